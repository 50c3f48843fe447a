#!/usr/bin/env bash
# How often `fathom check` fails for a fault on this machine's GPU:
#   tests/gpu/gate_trials.sh BUILD FAULT FACTOR TRIALS
# FAULT and FACTOR are gate_victim's: "none 1" counts false alarms, "work 1.03" a hidden factor of 3 %.
# Each trial is a whole check, its rounds measured anew. Prints how many ended with which exit code.
set -uo pipefail

build=${1:?give the build folder} fault=${2:?give a fault} factor=${3:?give a factor} trials=${4:-100}
victim="$build/bin/gate_victim --out {out} --filter {filter}"
declare -A ends=()
for ((trial = 1; trial <= trials; ++trial)); do
  "$build/bin/fathom" check --base "$victim" --head "$victim --fault $fault --factor $factor" \
    --seed "$trial" >/dev/null 2>&1
  code=$?
  ends[$code]=$((${ends[$code]-0} + 1))
done
for code in "${!ends[@]}"; do
  echo "$fault $factor: exit code $code in ${ends[$code]} of $trials"
done
