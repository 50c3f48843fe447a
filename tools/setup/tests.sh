# shellcheck shell=bash disable=SC2154  # variables are shared with the entry script
# Runs the tests that this machine can run, and says which it cannot.

# run_tests [CTEST ARGUMENT...]
run_tests() {
  local skipped=() filter=() results=$build/tests.xml total failed not_run
  if ! has_gpu; then
    mapfile -t skipped < <(ctest --test-dir "$build" -N -L '^gpu$' "$@" 2>/dev/null |
      sed -n 's/^ *Test *#[0-9]*: //p')
    filter=(-LE '^gpu$')
  fi
  rm -f "$results"
  ctest --test-dir "$build" --output-on-failure --no-tests=ignore -j "$(jobs_at_once)" \
    --output-junit "$results" "${filter[@]}" "$@" </dev/null
  local status=$?
  [[ -e $results ]] || return "$CHECK_FAILED"
  total=$(junit_count tests) failed=$(junit_count failures)
  not_run=$(($(junit_count skipped) + $(junit_count disabled)))
  if ((total + ${#skipped[@]} == 0)); then
    fail "$BAD_INPUT" "no test matches '$*': 'ctest --test-dir $build -N' lists them"
  fi
  if ((${#skipped[@]})); then
    printf '\nSkipped for want of a GPU:\n'
    printf '  %s\n' "${skipped[@]}"
  fi
  printf '\n%d passed, %d failed, %d skipped\n' \
    $((total - failed - not_run)) "$failed" $((not_run + ${#skipped[@]}))
  ((status == 0)) || return "$CHECK_FAILED"
}

# refuse_unknown_test_flags [CTEST ARGUMENT...]: ctest itself passes over flags that it does not know.
# What it knows is in its help.
refuse_unknown_test_flags() {
  has_program ctest || return 0
  local argument flag known value_of=''
  known=$(ctest --help | grep -E '^ +-' | sed 's/ = .*//; s/[][<>|]/ /g' |
    grep -oE '(^|[ ,])-{1,2}[A-Za-z][A-Za-z-]*' | tr -d ' ,' | sort -u)
  for argument; do
    flag=${argument%%=*}
    # A regular expression may begin with a dash, and -j4 has its number attached.
    if [[ $flag == -* && $value_of != @(-R|-E|-L|-LE) && ! $flag =~ ^-j[0-9]+$ ]] &&
      ! grep -qxF -e "$flag" <<<"$known"; then
      fail "$BAD_INPUT" "the tests have no flag '$flag': their flags are ctest's, which 'ctest --help' lists"
    fi
    value_of=$argument
  done
}

# The totals stand in the attributes of the first element.
junit_count() { grep -m 1 -oE "\b$1=\"[0-9]+\"" "$results" | grep -oE '[0-9]+' || echo 0; }
