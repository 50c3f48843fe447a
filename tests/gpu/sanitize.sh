#!/usr/bin/env bash
# Runs a program of ours under one tool of compute-sanitizer.
#
#   sanitize.sh memcheck|racecheck|initcheck|synccheck PROGRAM [FILTER]
#
# PROGRAM is a probe (its quick suite without counters, which two profilers could not share; FILTER
# is a regular expression of case names) or gpu_tests (FILTER: a Catch2 test specification; else the
# tests tagged [sanitized], which launch every kernel on little data, and fail if they do not).
# Exit: 0 clean, 9 the tool found something, 4 there is no compute-sanitizer or no GPU, else the
# program's own.
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
for folder in "${CUDA_HOME:-/usr/local/cuda}/bin" "${CUDA_HOME:-/usr/local/cuda}/compute-sanitizer"; do
  if [[ -z $sanitizer && -x $folder/compute-sanitizer ]]; then sanitizer=$folder/compute-sanitizer; fi
done
if [[ -z $sanitizer ]]; then
  echo "SKIP: there is no compute-sanitizer on this machine (package cuda-sanitizer)."
  exit 4
fi
if [[ ! -e /dev/nvidiactl && ! -e /dev/dxg ]]; then
  echo "SKIP: there is no GPU on this machine."
  exit 4
fi

case $(basename "$program") in
  # Sampling as short as it gets: what is looked for shows in the first launch.
  probe_*|gemm_ladder) arguments=(--suite quick --no-counters --wait --time-limit 0.001
                      "--benchmark_filter=${filter:-.}") ;;
  # Stores by several warps to the same words are what one probe is about; what racecheck has to say of
  # its kernels is asked of a test in which they do not meet.
  *) if [[ $tool == racecheck ]]; then tests='[sanitized]~[meeting-stores]'; else tests='[sanitized]'; fi
     arguments=("${filter:-$tests}") ;;
esac
# Clocks mean nothing under it: tests leave out what they say of them.
export FATHOM_UNDER_SANITIZER=1
exec "$sanitizer" --tool "$tool" --error-exitcode 9 "$program" "${arguments[@]}"
