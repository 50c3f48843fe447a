# shellcheck shell=bash disable=SC2034  # SOURCE is for the lines
# Runs the lines of a session that begin with "$ " (sessions_test.cpp) and shows what each says:
# session.sh SOURCE_DIR LINE..., in the sandbox's folder. F is `fathom`.
PATH=$(dirname "$F"):$PATH
SOURCE=$1
shift
export LC_ALL=C

# A Google Benchmark file of one benchmark: bench [NANOSECONDS [DATE [NAME]]].
bench() {
  printf '{"context": {"date": "%s", "host_name": "h"}, ' "${2:-2026-11-21T12:00:00+00:00}"
  printf '"benchmarks": [{"name": "%s", "real_time": %s, "time_unit": "ns"}]}\n' \
    "${3:-BM_Sort}" "${1:-1000}"
}

# What a run has left: its source and suite, and each probe's status and number of entries.
document() {
  python3 -c 'import json
document = json.load(open("out/result.json"))
run = document["context"]["fathom"]
print(run["source"], run["suite"], *run["warnings"], sep=", ")
for probe in document["fathom"]["probes"]:
  entries = [e for e in document["benchmarks"] if e["fathom"]["probe"] == probe["name"]]
  print(probe["name"], probe["status"], len(entries), probe["status_reason"])' | sed 's/ *$//'
}

# In which order those who wrote these logs came to what they log with its time: events LOG...
events() {
  for log; do
    sed -nE "s#^(ready|began|ended) (.*)#\\2 ${log#out/} \\1#p" "$log"
  done | sort -n | sed -E 's/^[0-9]* //; s/.* ready/ready/'
}

fleet() { "$F" fleet run --out out --no-links --suite quick --host-name box "$@"; }
# Ranks, with the words of `fleet` in $fleet. Open MPI does not start as root, in a container, or on
# fewer cores than ranks, unless it is told to.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 \
  OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_hwloc_base_binding_policy=none \
  OMPI_MCA_btl_base_warn_component_unused=0
fleet="fathom fleet run --out out --no-links --suite quick --host-name box"
mpi() { "$MPIEXEC" "$@" >said 2>&1 || echo $?; }

# What a fleet has left.
told() {
  python3 -c 'import json
fleet = json.load(open("out/fleet.json"))
for gpu in fleet["gpus"]:
  metrics = json.load(open("out/gpus/box-%s/gpu.json" % gpu["gpu"]))["metrics"]
  print(gpu["gpu"], gpu["status"], gpu["exit_code"], gpu["reason"])
  print(" counters", gpu["counters_of"], gpu["no_counters"])
  print(" figures", *([part, metrics[part][:1]] for part in ("alone", "together")))
for problem in fleet["problems"]:
  print("problem:", problem["what"], problem["exit_code"], problem["reason"])' | sed 's/ *$//'
}

for line; do
  printf '%s\n' "$line"
  case $line in '$ '*) ;; *) continue ;; esac
  eval "${line#??}" >.out 2>.errors </dev/null
  code=$?
  awk '{ print ">" $0 }' .out
  awk '{ print "!" $0 }' .errors
  [ $code = 0 ] || echo "[$code]"
done
