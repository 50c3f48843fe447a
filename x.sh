# x.sh TAG TILE ORDER [flags]
cd /tmp/wb; tag=$1; /usr/local/cuda/bin/nvcc -std=c++20 -O3 -I/tmp/wb/x -I/work/wt/b -I/work/wt/b/build/generated -gencode arch=compute_90a,code=sm_90a --expt-relaxed-constexpr -cubin -DTILE="$2" -DORDER=$3 ${@:4} -o x_$tag.cubin x.cu 2>&1 | grep -i "error\|spill" | head -5
/work/main/build/toolkit/bin/cuobjdump -sass x_$tag.cubin > x_$tag.sass; echo "$2 order $3 ${@:4}: $(python3 pred.py x_$tag.sass | cut -c80-) spills $(grep -c 'STL' x_$tag.sass)"
