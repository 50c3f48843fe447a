# shellcheck shell=bash
# A machine for setup_test.sh and setup_build_test.sh: everyday commands, and fakes of what builds
# and installs.
# shellcheck disable=SC2016,SC2034,SC2154  # the fakes expand theirs; the tests share others

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

bare=$scratch/bare
mkdir "$bare"
for name in bash env cat cksum sed grep head tail sort tr tee dirname readlink realpath mktemp \
  mkdir rm ls cut cp ln touch chmod flock nproc awk id df du sleep sh wc; do
  ln -s "$(command -v $name)" "$bare/$name"
done
machine=("PATH=$bare" "HOME=$scratch" "FATHOM_DEVICES=$scratch/dev" TERM=dumb)

# ./fathom on that machine.
fathom() { env -i "${machine[@]}" "$source_dir/fathom" --build-dir "$scratch/build" "$@"; }

# expect CODE COMMAND...: leaves what it wrote, on both streams, in $said.
expect() {
  local wanted=$1 code
  shift
  said=$("$@" 2>&1 </dev/null)
  code=$?
  [[ $code == "$wanted" ]] || die "'$*' ended with $code, not $wanted; it said: $said"
}
expect_said() { [[ $said == *"$1"* ]] || die "nothing says '$1' in: $said"; }
# expect_saying CODE TEXT COMMAND...
expect_saying() { expect "$1" "${@:3}" && expect_said "$2"; }
expect_equal() { [[ $1 == "$2" ]] || die "got '$1', expected '$2'"; }
die() { echo "FAILED: $*" >&2 && exit 1; }

# make_script FILE TEXT: makes the file a script that does that.
make_script() {
  rm -f "$1"
  printf '#!/bin/sh\n%s\n' "$2" >"$1"
  chmod +x "$1"
}

# program NAME TEXT: puts a fake on the PATH.
program() { make_script "$bare/$1" "$2"; }

# What the fakes were called with.
calls() { cat "$scratch/calls" 2>/dev/null; }
# shellcheck disable=SC2053  # a pattern
expect_calls() { [[ $(calls) == $1 ]] || die "called was '$(calls)', not '$1'"; }

# All that a command without a GPU asks for. A build prints what $scratch/output does, and leaves a
# tool that prints its arguments.
add_build_tools() {
  local package needed header rest
  program g++ 'echo 12.2.0'
  program ninja ''
  program fake_cmake "
case \$1 in
  --version) echo 'cmake version 3.25.1' ;;
  --build)
    echo \"\$*\" | sed 's/.*--target/build/' >>'$scratch/calls'
    if [ -x '$scratch/output' ]; then '$scratch/output' || exit; fi
    mkdir -p '$scratch/build/bin'
    printf '#!/bin/sh\necho \"the tool: \$*\"\n' >'$scratch/build/bin/fathom'
    chmod +x '$scratch/build/bin/fathom'
    cp '$scratch/build/bin/fathom' '$scratch/build/bin/fathom-gate' ;;
  *) if [ -e '$scratch/slow' ]; then sleep 1; fi
    echo \"configure \$*\" >>'$scratch/calls' && touch '$scratch/build/CMakeCache.txt' ;;
esac"
  ln -s fake_cmake "$bare/cmake"
  while read -r package needed header rest; do
    mkdir -p "$scratch/include/$header"
  done < <(grep -E '^[a-z]+.*\.h(pp)? ' "$source_dir/cmake/dependencies.txt")
  machine+=("CPATH=$scratch/include")
}

# add_apt SCRIPT: an apt-get that does that, and a sudo.
add_apt() {
  program apt-get "echo \"apt-get \$*\" >>'$scratch/calls'
$1"
  program sudo 'while [ "${1#-}" != "$1" ]; do shift; done; [ $# = 0 ] || exec "$@"'
}

# fake_toolkit RELEASE: an nvcc that says the release, and the headers that a complete toolkit has.
fake_toolkit() {
  local folder=$scratch/toolkit-$1
  mkdir -p "$folder/bin" "$folder/include/cub" "$folder/extras/CUPTI/include"
  make_script "$folder/bin/nvcc" "echo 'nvcc: NVIDIA (R) Cuda compiler driver'
echo 'Copyright (c) 2005-2025 NVIDIA Corporation'
echo 'Cuda compilation tools, release $1, V$1.88'"
  make_script "$folder/bin/compute-sanitizer" ''
  touch "$folder/include/cuda_runtime.h" "$folder/include/cub/version.cuh" \
    "$folder/extras/CUPTI/include/cupti_range_profiler.h"
  echo "$folder"
}

add_gpu() {
  mkdir "$scratch/dev" && touch "$scratch/dev/nvidia0"
  machine+=("CUDA_HOME=$(fake_toolkit 13.0)")
}

# What the set-up is, in $source_dir from now on.
copy_of_the_script() {
  local copy=$scratch/copy
  mkdir -p "$copy/tools" "$copy/cmake"
  cp "$source_dir/fathom" "$copy" && cp -r "$source_dir/tools/setup" "$copy/tools"
  cp "$source_dir"/cmake/{dependencies.txt,Suites.cmake} "$copy/cmake"
  source_dir=$copy
}

# Makes the functions of the set-up callable here, for a build folder of the case's own.
load_parts() {
  root=$source_dir build=$scratch/build log=$scratch/build/setup.log
  mkdir -p "$build"
  local part
  for part in say plan needs install build tests; do
    # shellcheck source=/dev/null
    source "$source_dir/tools/setup/$part.sh"
  done
}
