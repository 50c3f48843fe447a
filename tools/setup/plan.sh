# shellcheck shell=bash disable=SC2034,SC2154  # variables are shared with the entry script
# What a command needs. Sets kind (host, cuda, tests or all: each has what stands before it), gate
# (not empty: what the gate and the fleet read files with), and targets, those of the build.
plan() {
  kind=host targets=(fathom) gate=''
  case $command in
    test) plan_tests ;;
    doctor) if builds_for_gpu; then kind=cuda targets+=(fathom-device); fi ;;
    explain)
      builds_for_gpu ||
        fail "$NO_DRIVER" "'explain' runs a program on an NVIDIA GPU, and this machine has none"
      kind=cuda targets+=(fathom-explain)
      ;;
    run | build) plan_measuring default ;;
    compare) gate=yes targets+=(fathom-gate) ;; # which reads other tools' files
    check | baseline | history) gate=yes targets=(fathom-gate) tool=$build/bin/fathom-gate ;;
    fleet)
      gate=yes targets+=(fathom-fleet)
      if [[ ${arguments[1]-} == run ]]; then targets+=(fleet) && plan_measuring quick; fi
      ;;
  esac
}

# The driver's device files: nvidia-smi would know better, and can take seconds.
has_gpu() {
  local devices=${FATHOM_DEVICES-/dev} # the tests have a folder of their own
  compgen -G "$devices/nvidia[0-9]*" >/dev/null || [[ -e $devices/dxg ]]
}
builds_for_gpu() { [[ -n ${FATHOM_ARCHITECTURES-} ]] || has_gpu; }

# plan_measuring DEFAULT_SUITE: the programs of --suite or --probe. Names that do not exist are left
# to the tool, which knows similar ones.
plan_measuring() {
  local i value suite=$1 probes=()
  if ! builds_for_gpu; then return; fi
  for ((i = 1; i < ${#arguments[@]}; i++)); do
    value=${arguments[i + 1]-}
    if [[ ${arguments[i]} == *=* ]]; then value=${arguments[i]#*=}; fi
    case ${arguments[i]%%=*} in
      --replay) return ;;
      --suite) suite=$value ;;
      --probe) probes+=("$value") ;;
    esac
  done
  kind=cuda
  if ((${#probes[@]})); then targets+=(fathom-device) suite=''; fi
  for value in "${probes[@]}"; do
    if [[ -d $root/probes/$value ]]; then targets+=("probe_$value"); fi
    if [[ $value == gemm?(_ladder) ]]; then targets+=(gemm_ladder); fi
  done
  if grep -qF "set(FATHOM_SUITE_$suite " "$root/cmake/Suites.cmake"; then
    targets+=("suite_${suite//-/_}")
  fi
}

# The arguments of `test`: --all, and what goes to ctest. Several -LE are made one, since ctest
# leaves out only what each of them matches.
plan_tests() {
  local i
  kind=tests targets=(fathom_tests) left_out='^slow$' ctest_flags=()
  for ((i = 1; i < ${#arguments[@]}; i++)); do
    case ${arguments[i]} in
      --all) kind=all left_out=${left_out/#^slow/^} ;;
      -LE) left_out+="|${arguments[++i]-}" ;;
      *) ctest_flags+=("${arguments[i]}") ;;
    esac
  done
}
