#!/usr/bin/env bash
# Builds the study: build.sh SANITIZER OUT [ARCHITECTURE]
# SANITIZER: the folder with include/ and lib/ of Compute Sanitizer's API (the wheel
# nvidia-cuda-sanitizer-api of the driver's CUDA release: nvidia/cu13 in it).
set -euo pipefail
sanitizer=$(realpath "$1") out=$2 architecture=${3:-sm_90a}
root=$(realpath "$(dirname "${BASH_SOURCE[0]}")/../..")
study=$root/studies/addresses
mkdir -p "$out"
nvcc -fatbin --compile-as-tools-patch -std=c++20 -arch="$architecture" -I"$root" \
  -I"$sanitizer/include" "$study/patch.cu" -o "$out/patch.fatbin"
nvcc -O3 -std=c++20 -lineinfo -arch="$architecture" "$study/app.cu" -o "$out/app"
g++ -O2 -std=c++20 -shared -fPIC -I"$root" -I"$sanitizer/include" \
  -I"${CUDA_HOME:-/usr/local/cuda}/include" \
  "$study/inject.cpp" "$root"/models/{warp_access,global_memory,shared_memory}.cpp \
  -o "$out/libinject.so" -L"$sanitizer/lib" -lsanitizer-public
