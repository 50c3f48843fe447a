# shellcheck shell=bash disable=SC2034,SC2154  # variables are shared with the entry script
# Runs the tests that this machine can run, and says which it cannot.

# Reads the arguments of `test`: --all, and those flags of ctest that make sense here. ctest passes
# over a flag that it does not know, and a typing error would run everything.
plan_tests() {
  local i value
  kind=tests targets=(fathom_tests) left_out=('^slow$') ctest_flags=()
  for ((i = 1; i < ${#arguments[@]}; i++)); do
    value=${arguments[i + 1]-}
    case ${arguments[i]} in
      --all) kind=all left_out=("${left_out[@]:1}") ;;
      -LE) left_out+=("$value") && ((++i)) ;;
      -[RELj] | --timeout | --repeat) ctest_flags+=("${arguments[i]}" "$value") && ((++i)) ;;
      -V | -VV | -j[0-9]* | --rerun-failed | --stop-on-failure) ctest_flags+=("${arguments[i]}") ;;
      *)
        value="-R -E -L -LE -j -V -VV --timeout --repeat --rerun-failed --stop-on-failure"
        fail "$BAD_INPUT" \
          "'./fathom test' has no flag '${arguments[i]}': it takes --all and, of ctest's, $value"
        ;;
    esac
  done
}

# A GPU that a test can use: nvidia-smi may find a driver that does not answer.
gpu_answers() {
  has_gpu && { ! has_program nvidia-smi || nvidia-smi -L 2>/dev/null | grep -q '^GPU '; }
}

# ctest leaves out only what each of several -LE matches: so they are made one.
any_of() { local IFS='|' && echo "($*)"; }
names_of_tests() {
  ctest --test-dir "$build" -N "$@" "${ctest_flags[@]}" 2>/dev/null |
    sed -n 's/^ *Test *#[0-9]*: //p'
}

run_tests() {
  local results=$build/tests.xml skipped=() without=() status total failed not_run
  if ! gpu_answers; then
    if ((${#left_out[@]})); then without=(-LE "$(any_of "${left_out[@]}")"); fi
    mapfile -t skipped < <(names_of_tests -L '^gpu$' "${without[@]}")
    left_out+=('^gpu$')
  fi
  if ((${#left_out[@]})); then without=(-LE "$(any_of "${left_out[@]}")"); fi
  rm -f "$results"
  ctest --test-dir "$build" --output-on-failure --no-tests=ignore -j "$(jobs_at_once)" \
    --output-junit "$results" "${without[@]}" "${ctest_flags[@]}" </dev/null
  status=$?
  [[ -e $results ]] || return "$CHECK_FAILED"
  total=$(junit_count tests) failed=$(junit_count failures)
  not_run=$(($(junit_count skipped) + $(junit_count disabled)))
  ((total + ${#skipped[@]} > 0)) || fail "$BAD_INPUT" "no test matches '${ctest_flags[*]}' (slow\
 ones need --all): 'ctest --test-dir $build -N' lists them"
  if ((${#skipped[@]})); then
    printf '\nSkipped for want of a GPU:\n'
    printf '  %s\n' "${skipped[@]}"
  fi
  if [[ $kind != all ]]; then
    printf "\nLeft out: slow tests, and without a GPU its own; './fathom test --all' has them.\n"
  fi
  printf '\n%d passed, %d failed, %d skipped\n' \
    $((total - failed - not_run)) "$failed" $((not_run + ${#skipped[@]}))
  ((status == 0)) || return "$CHECK_FAILED"
}

# The totals stand in the attributes of the first element.
junit_count() { grep -m 1 -oE "\b$1=\"[0-9]+\"" "$results" | grep -oE '[0-9]+' || echo 0; }
