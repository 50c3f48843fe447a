#!/usr/bin/env bash
# Tests of ./fathom and tools/setup: setup_test.sh SOURCE_DIR CASE. Each case has a folder of its own and
# a PATH without compilers, so that nothing is installed or built, whatever the machine has.
# shellcheck disable=SC2154,SC2317  # variables of the parts, and functions in their place
set -uo pipefail

source_dir=$1
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# A machine with the everyday commands, and nothing to build with.
bare=$scratch/bare
mkdir "$bare"
for name in bash env cat cksum sed grep head tail sort tr dirname readlink realpath mktemp mkdir rm \
  ls cut flock nproc awk id; do
  ln -s "$(command -v $name)" "$bare/$name"
done

# expect CODE COMMAND...: leaves what it wrote, on both streams, in $said.
expect() {
  local wanted=$1 code
  shift
  said=$("$@" 2>&1 </dev/null)
  code=$?
  [[ $code == "$wanted" ]] || die "'$*' ended with $code, not $wanted; it said: $said"
}
expect_said() { [[ $said == *"$1"* ]] || die "nothing says '$1' in: $said"; }
expect_equal() { [[ $1 == "$2" ]] || die "got '$1', expected '$2'"; }
die() { echo "FAILED: $*" >&2 && exit 1; }

on_bare_machine() {
  env -i HOME="$scratch" PATH="$bare" "$source_dir/fathom" --build-dir "$scratch/build" "$@"
}

# Makes the functions of the set-up callable here, for a build folder of the case's own.
load_parts() {
  # shellcheck disable=SC2034  # the parts read these
  root=$source_dir build=$scratch/build log=$scratch/build/setup.log
  mkdir -p "$build"
  local part
  for part in say needs packages toolkit build tests; do
    # shellcheck source=/dev/null
    source "$source_dir/tools/setup/$part.sh"
  done
}

case_help_needs_no_build() {
  expect 0 on_bare_machine --help
  expect_said "--no-install"
  expect_said "Examples:"
  expect 0 on_bare_machine run --help
  expect 0 on_bare_machine
  [[ ! -e $scratch/build ]] || die "asking for help made a build folder"
}

case_unknown_command_is_bad_input() {
  expect 2 on_bare_machine mesure
  expect_said "there is no command 'mesure'"
  expect 2 "$source_dir/fathom" --build-dir
  expect_said "--build-dir needs a folder"
}

case_two_dashes_before_the_command_change_nothing() {
  expect 23 on_bare_machine --no-install -- run
  expect_said "cmake                configures the build"
  expect 0 on_bare_machine --
  expect_said "Usage: ./fathom"
  expect 2 on_bare_machine -- mesure
  expect_said "there is no command 'mesure'"
}

case_unknown_flag_of_the_tests_is_bad_input() {
  load_parts
  ln -s "$(command -v ctest)" "$bare/ctest"
  local flag
  for flag in --bogus --bogus=1 -Z -jx; do
    expect 2 on_bare_machine test "$flag"
    expect_said "the tests have no flag '${flag%%=*}'"
  done
  [[ ! -e $scratch/build/CMakeCache.txt ]] || die "a typing error was built for"
  expect 0 refuse_unknown_test_flags -R '--bogus' -j4 -j 4 --parallel 2 -LE gpu -VV -N -V --verbose \
    --show-only=json-v1 --repeat until-fail:3 --rerun-failed --no-tests=ignore --timeout=9 name
}

case_no_install_lists_what_is_missing() {
  expect 23 on_bare_machine --no-install run
  expect_said "cmake                configures the build, version 3.24 or newer"
  expect_said "g++                  the C++20 compiler"
  expect_said "gnuplot-nox          draws the report's pictures"
  [[ $said != *"catch2 "* ]] || die "measuring does not need the tests' packages: $said"
  [[ ! -e $scratch/build ]] || die "--no-install wrote something"
  expect 23 on_bare_machine test --no-install
  expect_said "cuobjdump and nvdisasm"
}

case_without_apt_says_what_to_install() {
  expect 23 on_bare_machine run
  expect_said "this machine has no apt-get"
  expect_said "ninja-build"
}

case_without_root_or_sudo_says_the_command() {
  printf '#!/bin/sh\nexit 99\n' >"$bare/apt-get"
  chmod +x "$bare/apt-get"
  local someone=()
  if ((EUID == 0)); then
    # Nobody may not be able to read the sources where they are.
    mkdir -p "$scratch/copy/tools"
    cp -r "$source_dir/fathom" "$scratch/copy" && cp -r "$source_dir/tools/setup" "$scratch/copy/tools"
    chmod -R a+rwX "$scratch"
    source_dir=$scratch/copy someone=(setpriv --reuid=65534 --regid=65534 --clear-groups)
  fi
  expect 23 "${someone[@]}" env -i HOME="$scratch" PATH="$bare" "$source_dir/fathom" \
    --build-dir "$scratch/build" run
  expect_said "have an administrator run 'apt-get install g++ cmake"
}

case_unwritable_build_folder() {
  expect 10 "$source_dir/fathom" --build-dir /proc/fathom list
  expect_said "cannot be written"
}

case_versions_compare_as_numbers() {
  load_parts
  at_least 3.24 3.25.1 || die "3.25.1 is newer than 3.24"
  at_least 12.8 13.0 || die "13.0 is newer than 12.8"
  at_least 12 12 || die "12 is 12"
  ! at_least 3.24 3.3 || die "3.3 is older than 3.24"
  at_least 12.8 12.10 || die "12.10 is newer than 12.8"
  ! at_least 12 '' || die "no version is no version"
}

# fake_toolkit RELEASE: an nvcc that says the release, and the headers that a complete toolkit has.
fake_toolkit() {
  local folder=$scratch/toolkit-$1
  mkdir -p "$folder/bin" "$folder/include/cub" "$folder/extras/CUPTI/include"
  cat >"$folder/bin/nvcc" <<END
#!/bin/sh
echo "nvcc: NVIDIA (R) Cuda compiler driver"
echo "Copyright (c) 2005-2025 NVIDIA Corporation"
echo "Cuda compilation tools, release $1, V$1.88"
END
  chmod +x "$folder/bin/nvcc"
  touch "$folder/include/cuda_runtime.h" "$folder/include/cub/version.cuh" \
    "$folder/extras/CUPTI/include/cupti_range_profiler.h"
  echo "$folder"
}

case_picks_a_complete_toolkit_of_the_right_version() {
  load_parts
  local old new
  old=$(fake_toolkit 12.4) new=$(fake_toolkit 12.9)
  complete_toolkit "$new" || die "12.9 with everything is complete"
  ! complete_toolkit "$old" || die "12.4 is too old"
  CUDA_HOME=$old CUDA_PATH=$new find_toolkit programs
  expect_equal "$toolkit ${wheels[*]-}" "$new "
  CUDA_HOME=$new FATHOM_TOOLKIT=wheels find_toolkit programs
  expect_equal "$toolkit ${wheels[*]}" "$build/toolkit toolkit"
  CUDA_HOME=$new find_toolkit tests
  expect_equal "${wheels[0]}" disassembler
  rm "$new/extras/CUPTI/include/cupti_range_profiler.h"
  ! complete_toolkit "$new" || die "without CUPTI's headers it is not complete"
}

# expect_architectures LIST NVIDIA_SMI_OUTPUT EXIT_CODE [CMAKE ARGUMENT...]
expect_architectures() {
  printf '#!/bin/sh\nprintf "%s"\nexit %d\n' "$2" "$3" >"$scratch/nvidia-smi"
  chmod +x "$scratch/nvidia-smi"
  expect 0 cmake "-DFATHOM_NVIDIA_SMI=$scratch/nvidia-smi" "${@:4}" \
    -P "$source_dir/cmake/Architectures.cmake"
  expect_equal "${said##*compiled for: }" "$1"
}

case_compiles_for_the_gpu_of_the_machine() {
  expect_architectures 90a-real '9.0\n9.0\n' 0
  expect_architectures '86-real;120a-real' '8.6\n12.0\n' 0
  expect_architectures 75-real '7.5\n' 0
  expect_architectures 90a-real 'NVIDIA-SMI has failed: driver 580.65 is not loaded\n' 9
  expect_architectures '80-real;90a-real' '7.5\n' 0 '-DFATHOM_ARCHITECTURES=80;90a-real'
}

case_every_wheel_is_pinned_by_hash() {
  local file
  for file in "$source_dir"/tools/setup/requirements/*.txt; do
    awk '/^[^# ]/ { if (name && !hashes) exit 1
                    if ($1 !~ /^[a-z0-9-]+==[0-9.]+$/) exit 1
                    name = $1; hashes = 0 }
         /--hash=sha256:[0-9a-f]+/ { if (length($1) != 78) exit 1; hashes++ }
         END { if (!name || !hashes) exit 1 }' "$file" || die "$file has a line without version or hash"
  done
}

case_finds_the_key_of_an_apt_source() {
  load_parts
  printf 'Types: deb\nSigned-By: /keys/first.gpg\n\nTypes: deb\nSigned-By: /keys/second.gpg\n' \
    >"$scratch/a.sources"
  expect_equal "$(keyring_of_entry "$scratch/a.sources" 2)" /keys/second.gpg
  printf '# a comment\ndeb [arch=amd64 signed-by=/keys/third.gpg] mirror suite main\ndeb mirror suite\n' \
    >"$scratch/b.list"
  expect_equal "$(keyring_of_entry "$scratch/b.list" 2)" /keys/third.gpg
  expect_equal "$(keyring_of_entry "$scratch/b.list" 3)" ""
}

# A folder of tests that ctest can run: one good, one for a GPU, and whatever is said.
write_tests() {
  printf '%s\n' 'add_test(good "true")' 'set_tests_properties(good PROPERTIES LABELS unit)' \
    'add_test(on_the_gpu "false")' 'set_tests_properties(on_the_gpu PROPERTIES LABELS gpu)' "$@" \
    >"$build/CTestTestfile.cmake"
}

case_test_run_without_gpu_names_what_it_skips() {
  load_parts
  has_gpu() { false; }
  write_tests
  expect 0 run_tests
  expect_said $'Skipped for want of a GPU:\n  on_the_gpu'
  expect_equal "${said##*$'\n'}" "1 passed, 0 failed, 1 skipped"
  expect 0 run_tests -L gpu
  expect_equal "${said##*$'\n'}" "0 passed, 0 failed, 1 skipped"
  expect 2 run_tests -R nonesuch
}

case_test_run_with_gpu_runs_its_tests() {
  load_parts
  has_gpu() { true; }
  write_tests
  expect 1 run_tests
  expect_equal "${said##*$'\n'}" "1 passed, 1 failed, 0 skipped"
}

case_failed_test_is_exit_1() {
  load_parts
  has_gpu() { false; }
  write_tests 'add_test(bad "false")' 'add_test(elsewhere "sh" "-c" "exit 77")' \
    'set_tests_properties(elsewhere PROPERTIES SKIP_RETURN_CODE 77)'
  expect 1 run_tests
  expect_equal "${said##*$'\n'}" "1 passed, 1 failed, 2 skipped"
}

case_scripts_are_well_formed() {
  local script scripts=("$source_dir/fathom" "$source_dir/.ci/run" "$source_dir"/tools/setup/*.sh
    "$source_dir/tests/e2e/setup_test.sh")
  for script in "${scripts[@]}"; do
    bash -n "$script" || die "$script"
  done
}

declare -F "case_$2" >/dev/null || die "there is no case $2"
"case_$2"
