#!/usr/bin/env bash
# Runs a program of ours under one tool of compute-sanitizer.
#
#   sanitize.sh memcheck|racecheck|initcheck|synccheck PROGRAM [FILTER]
#
# PROGRAM is a probe (its quick suite without counters, which two profilers could not share; FILTER
# is a regular expression of case names) or gpu_tests (FILTER: a Catch2 test specification; else the
# tests tagged [sanitized], which launch every kernel on little data: that they do is checked first,
# without the tool). Tests run one by one, each for FATHOM_SANITIZER_SECONDS (300) at most, so that
# one that does not end hides no other; each has a line in the summary. Exit: 0 clean, 9 the tool
# found something, 8 a test did not end in time, 4 there is no compute-sanitizer or no GPU, or every
# test was skipped, else the program's own.
set -euo pipefail

if [[ $# -lt 2 || $# -gt 3 ]]; then
  echo "usage: $0 memcheck|racecheck|initcheck|synccheck PROGRAM [FILTER]" >&2
  exit 2
fi
tool=$1 program=$2 filter=${3:-}

# Looked for now: a build folder may have come from a machine that had none.
sanitizer=${FATHOM_COMPUTE_SANITIZER:-}
if [[ ! -x $sanitizer ]]; then
  sanitizer=$(command -v compute-sanitizer || true)
fi
toolkit=${CUDA_HOME:-/usr/local/cuda}
for folder in "$toolkit/bin" "$toolkit/compute-sanitizer"; do
  if [[ -z $sanitizer && -x $folder/compute-sanitizer ]]; then
    sanitizer=$folder/compute-sanitizer
  fi
done
if [[ -z $sanitizer ]]; then
  echo "SKIP: there is no compute-sanitizer on this machine (package cuda-sanitizer)."
  exit 4
fi
if [[ ! -e /dev/nvidiactl && ! -e /dev/dxg ]]; then
  echo "SKIP: there is no GPU on this machine."
  exit 4
fi

# Tests leave out what they say of clocks, and products are as small as meet every path.
export FATHOM_UNDER_SANITIZER=1
case $(basename "$program") in
  # Sampling as short as it gets: what is looked for shows in the first launch.
  probe_*|gemm_ladder)
    exec "$sanitizer" --tool "$tool" --error-exitcode 9 \
      "$program" --suite quick --no-counters --wait \
      --time-limit 0.001 "--benchmark_filter=${filter:-.}" ;;
esac

# Stores by several warps to the same words are what one probe is about; what racecheck has to say
# of its kernels is asked of a test in which they do not meet.
tests='[sanitized]'
if [[ $tool == racecheck ]]; then tests='[sanitized]~[meeting-stores]'; fi
if [[ -z $filter ]] && ! "$program" "$tests"; then
  echo "Without $tool the tests do not pass or leave out a kernel."
  exit 1
fi

limit=${FATHOM_SANITIZER_SECONDS:-300} summary=() worst=0 skipped=0
log=$(mktemp)
trap 'rm -f "$log"' EXIT
mapfile -t names < <("$program" "${filter:-$tests}" --list-tests --verbosity quiet)
if [[ ${#names[@]} -eq 0 ]]; then
  echo "There is no test ${filter:-$tests}."
  exit 2
fi
for name in "${names[@]}"; do
  # In a specification, commas and brackets are not a name's own.
  specification=$(sed 's/[],[\\*"]/\\&/g' <<< "$name")
  start=$SECONDS status=0
  timeout --kill-after 10 "$limit" "$sanitizer" --tool "$tool" --error-exitcode 9 \
    "$program" "$specification" > "$log" 2>&1 || status=$?
  # What the tool found goes before the rest; a failure of the test before its running out of time.
  case $status in
    0) word=clean ;;
    4) word=skipped skipped=$((skipped + 1)) ;;
    9) word=FOUND worst=9 ;;
    124|137) word='NO END' worst=$((worst == 0 ? 8 : worst)) ;;
    *) word="EXIT $status" worst=$((worst == 9 ? 9 : status)) ;;
  esac
  if [[ $word != clean && $word != skipped ]]; then cat "$log"; fi
  summary+=("$(printf '%-8s %4d s  %s' "$word" $((SECONDS - start)) "$name")")
  echo "$tool: ${summary[-1]}"
done
printf '\n%s of %d tests, %d s each at most:\n' "$tool" ${#names[@]} "$limit"
printf '%s\n' "${summary[@]}"
if [[ $skipped -eq ${#names[@]} ]]; then exit 4; fi
exit "$worst"
