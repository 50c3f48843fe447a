# shellcheck shell=bash disable=SC2154  # variables are shared with the entry script
# What Fathom needs of the machine, why, and whether it is there. Looks at files and versions, not at
# package names, so that something installed by hand counts as well.

# at_least OLDEST VERSION
at_least() { [[ -n $2 ]] && printf '%s\n%s\n' "$1" "$2" | sort -VC; }

version_of() { "$@" 2>/dev/null </dev/null | grep -oE '[0-9]+(\.[0-9]+)*' | head -n 1; }

has_program() { command -v "$1" >/dev/null; }

has_daemon() { has_program "$1" || [[ -x /usr/sbin/$1 ]]; }

include_folders() {
  local folder
  printf '%s\n' /usr/include /usr/local/include
  IFS=: read -ra folders <<<"${CPATH-}"
  for folder in "${folders[@]}"; do printf '%s\n' "$folder"; done
  IFS=: read -ra folders <<<"${CMAKE_PREFIX_PATH-}"
  for folder in "${folders[@]}"; do printf '%s\n' "$folder/include"; done
}

has_header() {
  local folder
  for folder in "${header_folders[@]}"; do
    if [[ -e $folder/$1 ]]; then return 0; fi
  done
  return 1
}

# need PACKAGE WHY CHECK...: notes the package as missing where the check fails.
need() {
  local package=$1 why=$2
  shift 2
  "$@" || { missing+=("$package") && reasons+=("$why"); }
}

has_compiler() { at_least 12 "$(version_of g++ -dumpversion)"; }
has_cmake() { at_least 3.24 "$(version_of cmake --version)"; }
has_build_tool() { has_program ninja || has_program make; }
can_install_wheels() {
  python3 -m pip --version >/dev/null 2>&1 || python3 -c 'import ensurepip, venv' 2>/dev/null
}

can_link_fuzzer() {
  echo 'extern "C" int LLVMFuzzerTestOneInput() { return 0; }' |
    clang++ -fsanitize=fuzzer,address,undefined -x c++ - -o /dev/null 2>/dev/null
}

# find_missing programs|tests: fills missing[] with Debian's package names and reasons[] with why.
# Wheels are looked at before (toolkit.sh), since they decide whether Python is needed.
find_missing() {
  mapfile -t header_folders < <(include_folders)
  missing=() reasons=()
  need g++ "the C++20 compiler, version 12 or newer" has_compiler
  need cmake "configures the build, version 3.24 or newer" has_cmake
  need ninja-build "runs the build" has_build_tool
  need libbenchmark-dev "Google Benchmark: names, filters and repeats what is measured" \
    has_header benchmark/benchmark.h
  need libcli11-dev "CLI11: reads the command line" has_header CLI/CLI.hpp
  need nlohmann-json3-dev "reads and writes result documents" has_header nlohmann/json.hpp
  need libvalijson-dev "checks result documents against their schema" \
    has_header valijson/validator.hpp
  need libsimdjson-dev "simdjson: reads the gate's many and large documents" has_header simdjson.h
  need libpugixml-dev "pugixml: writes the gate's outcome as JUnit's XML" has_header pugixml.hpp
  need libtomlplusplus-dev "toml++: reads the gate's rules" has_header toml++/toml.h
  need libfmt-dev "formats text" has_header fmt/format.h
  need libboost-dev "Boost.Math: the distributions behind intervals" \
    has_header boost/math/distributions/students_t.hpp
  need gnuplot-nox "draws the report's pictures" has_program gnuplot
  if [[ $1 == tests ]]; then
    need catch2 "Catch2, version 3 (Debian 12 has it in its backports): runs the unit tests" has_header catch2/catch_all.hpp
    need libopenmpi-dev "MPI (any will do): the tests of a fleet's ranks; without it 'fathom fleet run' measures one host" has_program mpicxx
    need openmpi-bin "starts the ranks of those tests" has_program mpirun
    # Daemons and a second compiler are nothing for somebody's own machine; without them these tests
    # are skipped.
    if [[ -n ${CI-} ]]; then
      need clang "compiles the gate's readers for the fuzzer" has_program clang++
      need libclang-rt-dev "the fuzzer and the sanitizers of that compiler" can_link_fuzzer
      need slurmctld "Slurm: the tests of a fleet start one of their own" has_daemon slurmctld
      need slurmd "starts the ranks of those tests" has_daemon slurmd
      need slurm-client "srun and sbatch for those tests" has_program sbatch
    fi
  fi
  if ((${#wheels[@]})); then
    need python3-venv "installs wheels: ${wheels[*]}" can_install_wheels
    need ca-certificates "lets the download of the wheels be trusted" \
      test -e /etc/ssl/certs/ca-certificates.crt -o -n "${PIP_CERT-}${SSL_CERT_FILE-}"
  fi
}

# A GPU that a test can use. Reads what the driver shows first: nvidia-smi can take seconds.
has_gpu() {
  compgen -G '/dev/nvidia[0-9]*' >/dev/null || [[ -e /dev/dxg ]] || return 1
  ! has_program nvidia-smi || nvidia-smi -L 2>/dev/null | grep -q '^GPU '
}

# A line that changes when another GPU is put into the machine.
gpu_models() { cat /proc/driver/nvidia/gpus/*/information 2>/dev/null | grep -E '^(Model|GPU UUID)'; }
