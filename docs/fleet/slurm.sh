#!/usr/bin/env bash
# Every GPU of the allocation, one rank each: sbatch docs/fleet/slurm.sh
# Adapt the first three lines to the cluster; FATHOM and OUT lie on storage that all nodes share.
#SBATCH --nodes=16
#SBATCH --gpus-per-node=8
#SBATCH --ntasks-per-node=8
#SBATCH --exclusive
#SBATCH --time=00:30:00
#SBATCH --job-name=fathom-fleet
set -euo pipefail

FATHOM=${FATHOM:-$HOME/fathom/build/bin/fathom}
OUT=${OUT:-$SLURM_SUBMIT_DIR/fleet-$SLURM_JOB_ID}
mkdir -p "$OUT"
scontrol show hostnames "$SLURM_JOB_NODELIST" >"$OUT/hosts.txt"

# --kill-on-bad-exit=0: a rank that dies must not end the others. --mpi=pmix for Open MPI, --mpi=pmi2 for
# MPICH; `srun --mpi=list` says what there is. No GPU binding by srun: each rank takes the GPU of its
# local rank, and the CPUs near it.
srun --mpi=pmix --kill-on-bad-exit=0 --gpu-bind=none --cpu-bind=none \
  "$FATHOM" fleet run --suite quick --out "$OUT" --expect-hosts "$OUT/hosts.txt" || status=$?

# Where rank 0 itself was lost, its report is made from what the others left.
[[ -e $OUT/fleet.json ]] || "$FATHOM" fleet collect "$OUT" --expect-hosts "$OUT/hosts.txt" || status=$?
exit "${status:-0}"
