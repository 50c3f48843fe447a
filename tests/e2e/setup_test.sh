#!/usr/bin/env bash
# Tests of ./fathom and tools/setup: setup_test.sh SOURCE_DIR CASE. Each case has a folder of its
# own and a PATH without compilers; what builds and installs is faked, so that nothing is, whatever
# the machine has. setup_build_test.sh has the cases with a real build.
# shellcheck disable=SC2034,SC2154,SC2317  # variables of the parts, and functions in their place
set -uo pipefail

source_dir=$1
# shellcheck source=tests/e2e/setup_fakes.sh
source "$source_dir/tests/e2e/setup_fakes.sh"

case_help_and_wrong_words_need_no_build() {
  expect_saying 0 "--no-install" fathom --help
  expect_said "Examples:"
  expect 0 fathom run --help && expect 0 fathom build --help && expect 0 fathom
  expect_saying 0 "Usage: ./fathom" fathom --
  expect_saying 2 "there is no command 'mesure'" fathom mesure
  expect_saying 2 "there is no command 'mesure'" fathom -- mesure
  expect_saying 2 "--build-dir needs a folder" "$source_dir/fathom" --build-dir
  expect_saying 23 "cmake                configures the build" fathom --no-install -- run
  [[ ! -e $scratch/build ]] || die "asking for help made a build folder"
}

# --- What a command builds -----------------------------------------------------------------------

case_without_a_gpu_a_command_builds_the_tool_alone() {
  local command
  add_build_tools
  expect_saying 14 "'explain' runs a program on an NVIDIA GPU, and this machine has none" \
    fathom explain -- ./app
  expect_equal "$(calls)" ""
  expect_saying 0 "the tool: run --suite atlas --probe links" fathom run --suite atlas --probe links
  for command in report predict list check baseline history doctor 'fleet collect'; do
    # shellcheck disable=SC2086  # a command and its own command
    expect 0 fathom $command
  done
  expect_calls "configure --fresh -DFATHOM_CUDA=OFF -DFATHOM_GATE=OFF -DFATHOM_TESTS=OFF * -G Ninja*
build fathom
build fathom
build fathom
build fathom
configure -S $source_dir -B $scratch/build -DFATHOM_GATE=ON
build fathom-gate
build fathom-gate
build fathom-gate
build fathom
build fathom fathom-fleet"
  [[ $(calls) != *nvcc* ]] || die "a toolkit was asked for: $(calls)"
  expect 0 fathom fleet run --replay
  expect_equal "$(calls | tail -n 1)" "build fathom fathom-fleet"
}

case_with_a_gpu_a_command_builds_its_programs() {
  add_build_tools
  add_gpu
  local wanted arguments
  while read -r wanted arguments; do
    # shellcheck disable=SC2086  # several arguments
    expect 0 fathom $arguments
    expect_equal "$(calls | tail -n 1)" "build ${wanted//,/ }"
  done <<END
fathom,suite_default                       run --out somewhere
fathom,suite_default                       build
fathom,suite_quick                         run --suite quick
fathom,suite_atlas_quick                   run --suite=atlas-quick --no-counters
fathom,suite_gemm                          build --suite gemm
fathom,fathom-device,probe_links           run --probe links
fathom,fathom-device,probe_links,probe_atomics run --probe=links --probe atomics
fathom,fathom-device,gemm_ladder           run --probe gemm
fathom,fathom-fleet,fleet,suite_quick      fleet run
fathom,fathom-fleet,fleet,suite_default    fleet run --suite default
fathom,fathom-device                       doctor
fathom,fathom-explain                      explain --kernel f -- ./app --help
fathom                                     run --suite qick
fathom,fathom-device                       run --probe linsk
fathom                                     run --replay --suite quick
fathom,fathom-fleet                        fleet collect somewhere
fathom                                     report result.json
fathom-gate                                check --base a --head b
END
}

case_one_configuration_grows_and_never_shrinks() {
  add_build_tools
  expect 0 fathom list
  add_gpu
  expect 0 fathom run
  expect 0 fathom list
  expect 0 fathom run
  expect_calls "configure --fresh -DFATHOM_CUDA=OFF*
build fathom
configure -S $source_dir -B $scratch/build -DFATHOM_CUDA=ON \
* -DCMAKE_CUDA_COMPILER=$scratch/toolkit-13.0/bin/nvcc *
build fathom suite_default
build fathom
build fathom suite_default"
  machine+=("CUDA_HOME=$(fake_toolkit 12.9)")
  expect 0 fathom run
  [[ $(calls) == *"configure --fresh"*toolkit-13.0*"configure --fresh"*toolkit-12.9* ]] ||
    die "CMake does not let go of a toolkit without --fresh: $(calls)"
}

case_builds_for_a_gpu_elsewhere_where_it_is_named() {
  add_build_tools
  machine+=("CUDA_HOME=$(fake_toolkit 13.0)" 'FATHOM_ARCHITECTURES=80;90a')
  expect_saying 0 "Built in $scratch/build: fathom suite_quick" fathom build --suite quick
  expect_calls "*-DFATHOM_ARCHITECTURES=80;90a*
build fathom suite_quick"
}

case_the_set_up_alone_takes_little_time() {
  add_build_tools
  expect 0 fathom list
  # CPU time, which other programs cannot blur, of ten calls with nothing to do.
  local TIMEFORMAT='%U %S'
  { time for _ in {1..10}; do fathom list; done >/dev/null 2>&1; } 2>"$scratch/times"
  awk '{ if (($1 + $2) / 10 > 0.15) { print; exit 1 } }' "$scratch/times" ||
    die "the script takes too long for a goal of 0.3 s with the build tool's own time"
}

# --- What it asks for ----------------------------------------------------------------------------

case_no_install_lists_what_is_missing() {
  expect_saying 23 "cmake                configures the build, version 3.24 or newer" \
    fathom --no-install run
  expect_said "g++                  the C++20 compiler"
  expect_said "ninja-build          runs the build"
  [[ $said != *"catch2 "* ]] || die "measuring does not need the tests' packages: $said"
  [[ $said != *toolkit* ]] || die "without a GPU no toolkit is needed: $said"
  machine+=(FATHOM_TOOLKIT=wheels)
  expect_saying 23 "cuobjdump and nvdisasm" fathom test --no-install
  expect_said "the CUDA 13.0 toolkit"
}

case_no_install_never_touches_the_machine() {
  add_build_tools
  add_apt 'exit 0'
  rm "$bare/ninja"
  add_gpu
  machine+=(FATHOM_TOOLKIT=wheels)
  program python3 "echo python3 \"\$*\" | grep 'pip install' >>'$scratch/calls'; exit 0"
  expect_saying 23 "ninja-build" fathom --no-install run
  expect_said "the CUDA 13.0 toolkit"
  expect_equal "$(calls)" ""
  [[ ! -e $scratch/build ]] || die "--no-install wrote something"
}

case_installs_what_the_command_lacks_and_no_more() {
  add_build_tools
  mv "$bare/ninja" "$bare/fake_ninja"
  rm "$bare/cmake"
  add_apt "case \"\$*\" in *' install '*)
    cd '$bare' && ln -s fake_cmake cmake && ln -s fake_ninja ninja ;; esac"
  expect_saying 0 "Installing with apt-get: cmake ninja-build" fathom report file
  expect_said "Missing on this machine for 'fathom report':"
  expect_said "the tool: report file"
  [[ $(calls) == *"apt-get "*" install cmake ninja-build"* ]] || die "apt-get got $(calls)"
}

case_a_replay_needs_few_packages() {
  local packages
  mapfile -t packages < <(awk '$2 == "host" && /^[a-z]/ && !/^(g\+\+|cmake|ninja-build) / {
    print $1 }' "$source_dir/cmake/dependencies.txt")
  ((${#packages[@]} > 0 && ${#packages[@]} <= 6)) || die "${#packages[@]} packages: ${packages[*]}"
}

# --- Bad days: one sentence, exit code 23, and nothing was compiled ------------------------------

# expect_sentence TEXT COMMAND...: the command fails with one line, which has the text in it.
expect_sentence() {
  local text=$1 lines
  shift
  expect_saying 23 "$text" "$@"
  lines=$(grep -v -e '^fathom: Missing' -e '^  ' -e '^fathom: Installing' -e '^fathom: Fetching' \
    -e ', [0-9]* s: ' -e 'going on with the lists' <<<"$said")
  expect_equal "$(wc -l <<<"$lines")" 1
  [[ $'\n'$(calls) != *$'\n'@(build|configure)* ]] || die "it went on to build: $(calls)"
}

case_without_apt_says_what_to_install() {
  expect_sentence "this machine has no apt-get: install the above" fathom run
  expect_said "ninja-build"
}

case_without_root_says_the_command() {
  add_apt 'exit 99'
  local someone=()
  if ((EUID == 0)); then
    copy_of_the_script  # nobody may not be able to read the sources where they are
    chmod -R a+rwX "$scratch"
    someone=(setpriv --reuid=65534 --regid=65534 --clear-groups)
  fi
  rm "$bare/sudo"
  expect_sentence "have an administrator run 'apt-get install g++ cmake" \
    "${someone[@]}" env -i "${machine[@]}" "$source_dir/fathom" --build-dir "$scratch/build" run
  expect_equal "$(calls)" ""
}

case_without_a_network_says_what_to_install() {
  add_build_tools
  rm "$bare/cmake" "$bare/ninja"
  add_apt "echo \"Err:1 Could not resolve 'mirror.example'\"; exit 100"
  expect_sentence "no network: apt-get could not fetch cmake ninja-build" fathom run
  expect_said "run 'sudo apt-get install cmake ninja-build'"
  add_apt "case \"\$*\" in *install*) echo 'E: dpkg was interrupted'; exit 100 ;; esac"
  expect_saying 23 "E: dpkg was interrupted" fathom run
}

case_without_a_network_says_which_wheels() {
  add_build_tools
  add_gpu
  machine+=(FATHOM_TOOLKIT=wheels PIP_CERT=some)
  program python3 'case "$*" in *"pip install"*) exit 1 ;; esac'
  expect_sentence "pip could not fetch the wheels of toolkit" fathom run
  expect_said "tools/setup/requirements/toolkit.txt"
}

case_a_compiler_cmake_or_toolkit_too_old_is_said_first() {
  add_build_tools
  add_apt 'exit 0'
  program g++ 'echo 10.2.1'
  expect_sentence "the compiler g++ is version 10.2.1, and Fathom needs" fathom run
  program g++-12 'echo 12'
  machine+=(CXX=g++-12)
  expect 0 fathom run
  machine+=(CXX=g++-99)
  rm "$scratch/calls"
  expect_sentence "CXX names the compiler 'g++-99', and there is none" fathom run
  machine+=(CXX=)
  program g++ 'echo 12'
  program cmake 'echo cmake version 3.3'
  expect_sentence "cmake is version 3.3, and Fathom needs 3.24 or newer" fathom run
  program cmake 'exec fake_cmake "$@"'
  add_gpu
  machine+=("CUDA_HOME=$(fake_toolkit 12.4)")
  expect_sentence "toolkit-12.4 is version 12.4, and Fathom needs 12.8 or newer" fathom run
  expect_said "FATHOM_TOOLKIT=wheels"
  expect 0 fathom report file
}

case_a_full_disk_or_unwritable_folder_is_said_first() {
  add_build_tools
  expect_saying 10 "cannot be written" \
    env -i "${machine[@]}" "$source_dir/fathom" --build-dir /proc/fathom list
  program df 'printf "Filesystem 1M Used Available Use Mounted\n/dev/sda 9 8 12 99%% /\n"'
  expect_sentence "has 12 MB left, and this build takes up to" fathom run
  program df 'printf "Filesystem 1M Used Available Use Mounted\n/dev/sda 9 8 99999 9%% /\n"'
  make_script "$scratch/output" 'echo "fatal error: a.o: No space left on device"; exit 1'
  expect_saying 23 "fathom: the disk under $scratch/build is full: make room and start again, \
which goes on from here, or name another folder with --build-dir DIR" fathom run
}

# --- Progress ------------------------------------------------------------------------------------

case_progress_moves_from_the_first_second() {
  add_build_tools
  make_script "$scratch/output" 'sleep 2
for i in 1 2 3 4; do echo "[$i/40] Building CXX object $i"; sleep 1.1; done'
  touch "$scratch/slow"
  expect_saying 0 "fathom: configuring, 0 s" fathom run
  # A busy machine may come to it a second later.
  grep -qE 'fathom: building, [1-9] s' <<<"$said" || die "nothing moves: $said"
  (($(grep -c 'fathom: building' <<<"$said") <= 2)) ||
    die "more than a line each half minute: $said"
  local words
  said=$(script -qefc \
    "env -i ${machine[*]@Q} '$source_dir/fathom' --build-dir '$scratch/build' run" \
    /dev/null </dev/null)
  said=${said//$'\r\e[K'/$'\n'}
  for words in 'building 1 of 40, about ' 'building 4 of 40, about ' ' left'; do
    expect_said "$words"
  done
}

# --- Parts ---------------------------------------------------------------------------------------

case_picks_a_complete_toolkit_of_the_right_version() {
  load_parts
  local old new
  old=$(fake_toolkit 12.4) new=$(fake_toolkit 12.10)
  complete_toolkit "$new" || die "12.10 is newer than 12.8, and has everything"
  ! complete_toolkit "$old" || die "12.4 is too old"
  kind=cuda
  CUDA_HOME='' CUDA_PATH=$new find_toolkit
  expect_equal "$toolkit ${wheels[*]-}" "$new "
  CUDA_HOME=$new FATHOM_TOOLKIT=wheels find_toolkit
  expect_equal "$toolkit ${wheels[*]}" "$build/toolkit toolkit"
  kind=tests
  CUDA_HOME=$new find_toolkit
  expect_equal "${wheels[0]}" disassembler
  kind=host
  CUDA_HOME=$old find_toolkit
  expect_equal "$toolkit${wheels[*]-}" ""
  rm "$new/extras/CUPTI/include/cupti_range_profiler.h"
  ! complete_toolkit "$new" || die "without CUPTI's headers it is not complete"
}

# expect_architectures LIST NVIDIA_SMI_OUTPUT EXIT_CODE [CMAKE ARGUMENT...]
expect_architectures() {
  make_script "$scratch/nvidia-smi" "printf '$2'; exit $3"
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

declare -F "case_$2" >/dev/null || die "there is no case $2"
"case_$2"
