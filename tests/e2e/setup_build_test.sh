#!/usr/bin/env bash
# Tests of ./fathom and tools/setup with a real CMake and a real ctest, on a project of a few lines
# in place of Fathom's: setup_build_test.sh SOURCE_DIR CASE.
# shellcheck disable=SC2034,SC2154,SC2317  # variables of the parts, and functions in their place
set -uo pipefail

source_dir=$1
# shellcheck source=tests/e2e/setup_fakes.sh
source "$source_dir/tests/e2e/setup_fakes.sh"

# A copy of the script with a project of its own, whose three steps leave a line each in
# $scratch/steps. The second waits for $scratch/go where there is $scratch/wait.
add_project() {
  add_build_tools
  rm "$bare/cmake" "$bare/ninja"
  ln -s "$(command -v cmake)" "$bare/cmake"
  if [[ $1 == Ninja ]]; then program ninja "exec '$(command -v ninja)' \"\$@\""; fi
  if [[ $1 == make ]]; then program make "exec '$(command -v make)' \"\$@\""; fi
  mkdir "$scratch/bin"
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

interrupted_build_goes_on() {
  local pid
  add_project "$1"
  touch "$scratch/wait"
  # A session of its own, so that all of it is interrupted at once, as by Ctrl-C.
  setsid env -i "${machine[@]}" "$source_dir/fathom" --build-dir "$scratch/build" list \
    >"$scratch/first" 2>&1 </dev/null &
  pid=$!
  until grep -qs 'begin two' "$scratch/steps"; do
    kill -0 $pid || die "it ended too early: $(<"$scratch/first")"
    sleep 0.1
  done
  kill -TERM -- -$pid
  wait $pid
  expect_equal $? 130
  [[ $(<"$scratch/first") == *"interrupted; the next call goes on from here"* ]] ||
    die "it said $(<"$scratch/first")"
  rm "$scratch/wait"
  expect_saying 0 "the tool" fathom list
  expect_equal "$(steps)" "begin one end one begin two begin two end two begin three end three "
}
case_an_interrupted_build_goes_on_where_it_was() { interrupted_build_goes_on Ninja; }
case_an_interrupted_build_goes_on_with_make() { interrupted_build_goes_on make; }

case_asking_for_cuda_builds_nothing_anew() {
  add_project Ninja
  expect 0 fathom list
  add_gpu
  expect 0 fathom run
  expect 0 fathom list
  rm "$scratch/dev/nvidia0"
  expect 0 fathom run
  expect_equal "$(steps | sed 's/begin [a-z]* end //g')" "one two three kernels "
}

case_a_broken_build_is_mended_by_the_next() {
  add_project Ninja
  cp "$scratch/step" "$scratch/good"
  echo 'echo "tool.cpp:3: error: no"; exit 1' >"$scratch/step"
  expect_saying 23 "tool.cpp:3: error: no" fathom list
  expect_said "the build failed: see above"
  cp "$scratch/good" "$scratch/step"
  expect_saying 0 "the tool" fathom list
}

# --- Tests ---------------------------------------------------------------------------------------

# A folder of tests that ctest can run: one good, one for a GPU, one slow, and whatever is said.
write_tests() {
  printf '%s\n' 'add_test(good "true")' 'set_tests_properties(good PROPERTIES LABELS unit)' \
    'add_test(on_the_gpu "false")' 'set_tests_properties(on_the_gpu PROPERTIES LABELS gpu)' \
    'add_test(takes_hours "true")' \
    'set_tests_properties(takes_hours PROPERTIES LABELS "sass;slow")' \
    "$@" >"$build/CTestTestfile.cmake"
}

# test_command [ARGUMENT...]: `./fathom test` without what it builds.
test_command() (
  arguments=(test "$@")
  plan_tests && run_tests
)
# expect_count CODE COUNT [ARGUMENT...]: and the last line that it says.
expect_count() {
  expect "$1" test_command "${@:3}"
  expect_equal "${said##*$'\n'}" "$2"
}

case_test_run_names_what_it_skips_without_a_gpu() {
  load_parts
  has_gpu() { false; }
  write_tests
  expect_count 0 "1 passed, 0 failed, 1 skipped"
  expect_said $'Skipped for want of a GPU:\n  on_the_gpu'
  expect_count 0 "0 passed, 0 failed, 1 skipped" -L gpu
  expect_saying 2 "no test matches '-R nonesuch'" test_command -R nonesuch
  write_tests 'add_test(bad "false")' 'add_test(elsewhere "sh" "-c" "exit 77")' \
    'set_tests_properties(elsewhere PROPERTIES SKIP_RETURN_CODE 77)'
  expect_count 1 "1 passed, 1 failed, 2 skipped"
  has_gpu() { true; }
  gpu_answers() { true; }
  write_tests
  expect_count 1 "1 passed, 1 failed, 0 skipped"
  expect_count 0 "1 passed, 0 failed, 0 skipped" -LE gpu
}

case_slow_tests_run_with_all_alone() {
  load_parts
  has_gpu() { false; }
  write_tests
  expect_saying 0 "Left out: slow tests" test_command
  [[ $said != *takes_hours* ]] || die "a slow test ran: $said"
  expect_count 0 "2 passed, 0 failed, 1 skipped" --all
  expect_said takes_hours
  [[ $said != *"Left out"* ]] || die "nothing is left out: $said"
  expect_count 0 "1 passed, 0 failed, 1 skipped" --all -LE unit
  expect_saying 2 "no test matches '-R hours'" test_command -R hours
}

case_test_builds_what_its_tests_need() {
  add_build_tools
  copy_of_the_script
  # The modules of this machine's Python do not count, only those of the fake one.
  sed -i 's#/usr/bin/python3#python3#' "$source_dir/tools/setup/needs.sh"
  machine+=("CUDA_HOME=$(fake_toolkit 13.0)")
  touch "$scratch/toolkit-13.0/bin/"{cuobjdump,nvdisasm}
  chmod +x "$scratch/toolkit-13.0/bin/"*
  program mpicxx '' && program mpirun '' && program clang++ '' && program ctest ''
  program slurmctld '' && program slurmd '' && program sbatch ''
  program chromium '' && program chromedriver '' && program cmark-gfm '' && program debootstrap ''
  fathom test >/dev/null 2>&1
  expect_calls "configure * -DFATHOM_GATE=ON -DFATHOM_TESTS=ON
build fathom_tests"
  machine+=(PIP_CERT=some)
  program python3 "case \"\$*\" in *'pip install'*) mkdir '$scratch/build/toolkit.new' ;; esac"
  expect_saying 23 "axe-core" fathom --no-install test --all
  fathom test --all >/dev/null 2>&1
  expect_calls "*-DFATHOM_GPU_TESTS=ON*"
  expect_equal "$(calls | tail -n 1)" "build fathom_tests"
  rm "$bare/clang++"
  fathom test >/dev/null 2>&1
  expect_saying 23 "compiles the readers for the fuzzer" fathom --no-install test --all
}

case_unknown_flag_of_the_tests_is_bad_input() {
  local flag
  for flag in --bogus --bogus=1 -Z -jx --al name; do
    expect_saying 2 "'./fathom test' has no flag '$flag': it takes --all and" fathom test "$flag"
  done
  [[ ! -e $scratch/build ]] || die "a typing error was built for"
  load_parts
  local arguments=(test -R --bogus -j4 -j 4 -LE gpu -VV --timeout 9 --rerun-failed
    --repeat until-fail:3)
  plan_tests
  expect_equal "${ctest_flags[*]}" \
    "-R --bogus -j4 -j 4 -VV --timeout 9 --rerun-failed --repeat until-fail:3"
}

case_continuous_integration_runs_every_test() {
  grep -qx 'exec ./fathom test --all' "$source_dir/.ci/run" || die ".ci/run runs something else"
}

case_every_wheel_is_pinned_by_hash() {
  local file
  for file in "$source_dir"/tools/setup/requirements/*.txt; do
    awk '/^[^# ]/ { if (name && !hashes) exit 1
                    if ($1 !~ /^[a-z0-9-]+==[0-9.]+$/) exit 1
                    name = $1; hashes = 0 }
         /--hash=sha256:[0-9a-f]+/ { if (length($1) != 78) exit 1; hashes++ }
         END { if (!name || !hashes) exit 1 }' "$file" ||
      die "$file has a line without version or hash"
  done
}

declare -F "case_$2" >/dev/null || die "there is no case $2"
"case_$2"
