#!/usr/bin/env bash
# Every GPU of the allocation, one rank each: sbatch docs/fleet/slurm.sh
# Adapt the first three lines to the cluster; FATHOM and OUT lie on storage that all nodes share.
#SBATCH --nodes=16
#SBATCH --gpus-per-node=8
#SBATCH --ntasks-per-node=8
#SBATCH --exclusive
#SBATCH --no-kill
#SBATCH --time=00:40:00
#SBATCH --signal=B:TERM@120
#SBATCH --job-name=fathom-fleet
set -euo pipefail

FATHOM=${FATHOM:-$HOME/fathom/build/bin/fathom}
OUT=${OUT:-$SLURM_SUBMIT_DIR/fleet-$SLURM_JOB_ID}
MPI=${MPI:-pmix} # of Open MPI; pmi2 for MPICH: `srun --mpi=list` says what there is
mkdir -p "$OUT"
scontrol show hostnames "$SLURM_JOB_NODELIST" >"$OUT/hosts.txt"

# No GPU binding by srun: each rank sees all GPUs of its node, and takes the one of its local rank
# and the CPUs near it. --kill-on-bad-exit=0 and --no-kill: a rank that dies, or a node, must not
# end the others; --wait, from the first rank's end on: the others have the time for all four parts,
# but not for ever. The parts of a GPU (alone, together, suite, links) each have Fathom's
# --time-limit, and all of them have to be shorter than Slurm's. Slurm tells this script two minutes
# before the end: the report is made all the same.
rm -f "$OUT/fleet.json" # of an earlier run
status=0
collect() {
  status=0
  "$FATHOM" fleet collect "$OUT" --expect-hosts "$OUT/hosts.txt" || status=$?
}
trap 'collect; exit "$status"' TERM

srun --mpi="$MPI" --kill-on-bad-exit=0 --wait=1200 --no-kill --gpu-bind=none --cpu-bind=none \
  "$FATHOM" fleet run --suite quick --time-limit 300 --out "$OUT" --expect-hosts "$OUT/hosts.txt" &
wait $! || status=$? # a signal is only heard while the shell waits

# Where rank 0 was lost, or Slurm has ended the step, the report is made from what each rank had
# written.
if [[ ! -e $OUT/fleet.json ]] || ((status > 128)); then collect; fi
exit "$status"

# Without MPI, or where no death may cost the others anything: independent jobs, one a node.
#   srun --ntasks-per-node=1 --kill-on-bad-exit=0 \
#     "$FATHOM" fleet run --part --suite quick --time-limit 300 --out "$OUT" || true
#   "$FATHOM" fleet collect "$OUT" --expect-hosts "$OUT/hosts.txt"
