# shellcheck shell=bash
# A machine for the sessions of ./fathom and tools/setup (tests/golden/sessions/setup*.txt):
# everyday commands, and fakes of what builds and installs, so that nothing is, whatever the machine
# has.
# shellcheck disable=SC2016,SC2034,SC2154  # the fakes expand theirs; the sessions share others

scratch=$PWD
source_dir=$SOURCE
bare=$scratch/bare
mkdir "$bare"
for name in bash env cat cksum sed grep head tail sort tr tee dirname readlink realpath mktemp \
  mkdir rm ls cut cp ln touch chmod flock nproc awk id df du sleep sh wc; do
  ln -s "$(command -v $name)" "$bare/$name"
done
machine=("PATH=$bare" "HOME=$scratch" "FATHOM_DEVICES=$scratch/dev" TERM=dumb PIP_CERT=some
  "CPATH=$scratch/include")
# shellcheck disable=SC2013  # words
for header in $(grep -oE '[^ ]+\.h(pp)? ' "$source_dir/cmake/dependencies.txt"); do
  mkdir -p "$scratch/include/$header"
done

# ./fathom on that machine, without the lines of its progress.
fathom() {
  env -i "${machine[@]}" "$source_dir/fathom" --build-dir "$scratch/build" "$@" 2>&1 |
    grep -v ', [0-9]* s: '
  return "${PIPESTATUS[0]}"
}

# make_script FILE TEXT: makes the file a script that does that.
make_script() {
  rm -f "$1"
  printf '#!/bin/sh\n%s\n' "$2" >"$1"
  chmod +x "$1"
}
# program NAME TEXT: puts a fake on the PATH.
program() { make_script "$bare/$1" "$2"; }

# What the fakes were called with since it was last asked.
calls() {
  cat "$scratch/calls" 2>/dev/null
  rm -f "$scratch/calls"
}

# The programs that a command without a GPU asks for. A build prints what $scratch/output does, and
# leaves a tool that prints its arguments.
add_build_tools() {
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
  for part in say plan needs install build; do
    # shellcheck source=/dev/null
    source "$source_dir/tools/setup/$part.sh"
  done
}

# A copy of the script with a project of its own, whose three steps leave a line each in
# $scratch/steps. The second waits while there is $scratch/wait: add_project Ninja|make.
add_project() {
  add_build_tools
  rm "$bare/cmake" "$bare/ninja"
  ln -s "$(command -v cmake)" "$bare/cmake"
  program "${1,,}" "exec '$(command -v "${1,,}")' \"\$@\""
  mkdir -p "$scratch/bin"
  make_script "$scratch/bin/fathom" 'echo the tool'
  copy_of_the_script
  cat >"$source_dir/CMakeLists.txt" <<END
cmake_minimum_required(VERSION 3.24)
project(small LANGUAGES NONE)
set(before "")
foreach(step one two three)
  add_custom_command(OUTPUT \${step} DEPENDS \${before} COMMAND sh "$scratch/step" \${step})
  set(before \${step})
endforeach()
add_custom_target(fathom DEPENDS three)
file(COPY "$scratch/bin" DESTINATION "\${CMAKE_BINARY_DIR}")
if(FATHOM_CUDA)
  add_custom_command(OUTPUT kernels DEPENDS three COMMAND sh "$scratch/step" kernels)
  add_custom_target(suite_default DEPENDS kernels)
endif()
END
  cat >"$scratch/step" <<END
echo "begin \$1" >>"$scratch/steps"
while [ "\$1" = two ] && [ -e "$scratch/wait" ]; do sleep 0.1; done
echo "end \$1" >>"$scratch/steps"
touch "\$1"
END
}
steps() { tr '\n' ' ' <"$scratch/steps"; }

# A folder of tests that ctest can run: one good, one for a GPU, one slow, and whatever is said.
write_tests() {
  printf '%s\n' 'add_test(good "true")' 'set_tests_properties(good PROPERTIES LABELS unit)' \
    'add_test(on_the_gpu "false")' 'set_tests_properties(on_the_gpu PROPERTIES LABELS gpu)' \
    'add_test(takes_hours "true")' \
    'set_tests_properties(takes_hours PROPERTIES LABELS "sass;slow")' \
    "$@" >"$build/CTestTestfile.cmake"
}
# test_command [ARGUMENT...]: what `./fathom test` says of its own, without what it builds.
test_command() (
  arguments=(test "$@")
  plan_tests
  run_tests 2>&1 | sed -n '/^Skipped\|^Left out\|tests passed\|^fathom:/,/^$/p'
  exit "${PIPESTATUS[0]}"
)
