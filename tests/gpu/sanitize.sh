#!/usr/bin/env bash
# Runs a program of ours under one tool of compute-sanitizer.
#
#   sanitize.sh memcheck|racecheck|initcheck|synccheck PROGRAM
#
# PROGRAM is a probe (its quick suite without counters, which two profilers could not share) or
# gpu_tests (the tests tagged [sanitized], which launch every kernel on little data: that they do is
# checked first, without the tool). Tests run one by one, each for FATHOM_SANITIZER_SECONDS (300) at
# most, so that one that does not end hides no other; each has a line. Exit: 0 clean, 9 the tool
# found something, 8 a test did not end in time, 4 there is no compute-sanitizer or no GPU, or every
# test was skipped, else the program's own.
set -euo pipefail

tool=$1 program=$2

# Looked for now: a build folder may have come from a machine that had none.
sanitizer=${FATHOM_COMPUTE_SANITIZER:-}
toolkit=${CUDA_HOME:-/usr/local/cuda}
for folder in '' "$toolkit/bin/" "$toolkit/compute-sanitizer/"; do
  [[ -x $sanitizer ]] || sanitizer=$(command -v "${folder}compute-sanitizer" || true)
done
if [[ -z $sanitizer || ! (-e /dev/nvidiactl || -e /dev/dxg) ]]; then
  echo "SKIP: this machine has no compute-sanitizer (package cuda-sanitizer) or no GPU."
  exit 4
fi

# Tests leave out what they say of clocks, and products are as small as meet every path.
export FATHOM_UNDER_SANITIZER=1
case $(basename "$program") in
  # Sampling as short as it gets: what is looked for shows in the first launch.
  probe_*|gemm_ladder)
    exec "$sanitizer" --tool "$tool" --error-exitcode 9 \
      "$program" --suite quick --no-counters --wait --time-limit 0.001 ;;
esac

# Stores by several warps to the same words are what one probe is about; what racecheck has to say
# of its kernels is asked of a test in which they do not meet.
tests='[sanitized]'
if [[ $tool == racecheck ]]; then tests='[sanitized]~[meeting-stores]'; fi
if ! "$program" "$tests"; then
  echo "Without $tool the tests do not pass or leave out a kernel."
  exit 1
fi

worst=0 skipped=0
log=$(mktemp)
trap 'rm -f "$log"' EXIT
mapfile -t names < <("$program" "$tests" --list-tests --verbosity quiet)
for name in "${names[@]}"; do
  # In a specification, commas and brackets are not a name's own.
  specification=$(sed 's/[],[\\*"]/\\&/g' <<< "$name")
  start=$SECONDS status=0
  timeout --kill-after 10 "${FATHOM_SANITIZER_SECONDS:-300}" "$sanitizer" --tool "$tool" \
    --error-exitcode 9 "$program" "$specification" > "$log" 2>&1 || status=$?
  # What the tool found goes before the rest; a failure of the test before its running out of time.
  case $status in
    0) word=clean ;;
    4) word=skipped skipped=$((skipped + 1)) ;;
    9) word=FOUND worst=9 ;;
    124|137) word='NO END' worst=$((worst == 0 ? 8 : worst)) ;;
    *) word="EXIT $status" worst=$((worst == 9 ? 9 : status)) ;;
  esac
  if [[ $word != clean && $word != skipped ]]; then cat "$log"; fi
  printf '%s: %-8s %4d s  %s\n' "$tool" "$word" $((SECONDS - start)) "$name"
done
if [[ $skipped -eq ${#names[@]} ]]; then exit 4; fi
exit "$worst"
