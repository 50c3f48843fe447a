# shellcheck shell=bash disable=SC2154  # variables are shared with the entry script
# The CUDA toolkit: the machine's own where it will do, else a pinned one from Python wheels in
# <build>/toolkit, which needs no root. What the tests take apart kernels with comes the same way.

# complete_toolkit DIR: version 12.8 or newer, with CUPTI's headers and CUB.
complete_toolkit() {
  at_least 12.8 "$(release_of "$1/bin/nvcc")" || return 1
  local folder
  for folder in "$1/include" "$1/extras/CUPTI/include"; do
    if [[ -e $folder/cupti_range_profiler.h ]]; then
      [[ -e $1/include/cuda_runtime.h ]] &&
        [[ -e $1/include/cub/version.cuh || -e $1/include/cccl/cub/version.cuh ]]
      return
    fi
  done
  return 1
}

# nvcc's banner has years before the version: "release 13.0, V13.0.88".
release_of() { "$1" --version 2>/dev/null | sed -nE 's/.*release ([0-9.]+),.*/\1/p'; }

# Sets toolkit to the folder of the machine's own toolkit, or to <build>/toolkit, and wheels[] to the
# names of the sets of wheels (tools/setup/requirements) that are still to be installed there.
find_toolkit() {
  local folder nvcc tools
  toolkit='' wheels=()
  if [[ ${FATHOM_TOOLKIT-} != wheels ]]; then
    nvcc=$(readlink -f "$(command -v nvcc)")
    for folder in "${CUDA_HOME-}" "${CUDA_PATH-}" "${nvcc%/bin/nvcc}" /usr/local/cuda; do
      if [[ -n $folder ]] && complete_toolkit "$folder"; then toolkit=$folder && break; fi
    done
  fi
  if [[ -z $toolkit ]]; then
    toolkit=$build/toolkit
    want_wheels toolkit
  fi
  if [[ $1 == tests ]]; then
    tools=$toolkit/bin
    [[ -x $tools/cuobjdump && -x $tools/nvdisasm ]] || want_wheels disassembler
    if has_gpu && [[ ! -x $tools/compute-sanitizer ]]; then want_wheels sanitizer; fi
  fi
}

# A mark with the checksum of the requirements says what <build>/toolkit holds.
mark_of() { echo "$build/toolkit/.$1-$(cksum <"$root/tools/setup/requirements/$1.txt" | tr ' ' -)"; }
want_wheels() { [[ -e $(mark_of "$1") ]] || wheels+=("$1"); }

describe_wheels() {
  case $1 in
    toolkit) echo "the CUDA 13.0 toolkit (115 MB): compiles the kernels; the machine has none of version 12.8 or newer with CUPTI" ;;
    disassembler) echo "cuobjdump and nvdisasm (5 MB): the tests read compiled kernels with them" ;;
    sanitizer) echo "compute-sanitizer (14 MB): the tests on the GPU check memory accesses with it" ;;
  esac
}

install_wheels() {
  local python=python3 name staging=$build/toolkit.new
  if ! python3 -m pip --version >/dev/null 2>&1; then
    python=$build/toolkit-python/bin/python3
    "$python" -m pip --version >/dev/null 2>&1 ||
      logged "preparing a Python environment" 10 python3 -m venv --clear "$build/toolkit-python" ||
      fail_with_log "$SETUP_INCOMPLETE" "python3 could not make an environment for the wheels"
  fi
  for name in "${wheels[@]}"; do
    say "Fetching $(describe_wheels "$name"), into $build/toolkit"
    rm -rf "$staging"
    logged "fetching $name" 40 "$python" -m pip install --disable-pip-version-check --no-deps \
      --require-hashes --only-binary=:all: --target "$staging" \
      -r "$root/tools/setup/requirements/$name.txt" ||
      fail_with_log "$SETUP_INCOMPLETE" "pip could not fetch the wheels: check the network, or install the CUDA toolkit 12.8 or newer and set CUDA_HOME"
    mkdir -p "$build/toolkit"
    cp -r "$staging"/nvidia/cu13/. "$build/toolkit/" && rm -rf "$staging"
    link_libraries
    touch "$(mark_of "$name")"
  done
}

# The wheels hold libraries under the name that programs load; compilers and CMake look for the name
# without a version, and in lib64.
link_libraries() {
  local library plain
  if [[ ! -d $build/toolkit/lib ]]; then return; fi
  ln -sfn lib "$build/toolkit/lib64"
  for library in "$build"/toolkit/lib/*.so.*; do
    plain=${library%%.so.*}.so
    [[ -e $plain ]] || ln -s "${library##*/}" "$plain"
  done
}
