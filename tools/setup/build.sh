# shellcheck shell=bash disable=SC2154  # variables are shared with the entry script
# From a bare machine to built programs, and tests: checks, installs, configures, builds, runs.

set_up() {
  trap 'clear_progress; fail "$INTERRUPTED" "interrupted; the next call goes on from here"' INT TERM
  compiler=${CXX:-g++}
  look_around
  if [[ $install == no ]] && ((${#missing[@]} + ${#wheels[@]})); then
    list_missing
    give_up "set-up is incomplete: start without --no-install, or install the above"
  fi
  prepare_build_folder
  : >"$log"
  install_missing
  configure
  logged "building" cmake --build "$build" --parallel "$(jobs_at_once)" --target "${targets[@]}" \
    </dev/null || give_up_with_log "the build failed: see above and $log"
  exec {lock}>&-
  trap - INT TERM
}

prepare_build_folder() {
  mkdir -p "$build" 2>/dev/null
  if [[ ! -d $build || ! -w $build ]]; then
    fail "$OUTPUT_UNWRITABLE" \
      "the build folder $build cannot be written: name another with --build-dir DIR"
  fi
  exec {lock}>"$build/.setup.lock"
  if ! flock -n "$lock"; then
    say "Another ./fathom is setting up in $build: waiting for it."
    flock "$lock"
    look_around
  fi
}

# In megabytes, what the build of each kind takes at most, with the toolkit's wheels.
declare -gA room=([host]=150 [cuda]=1200 [tests]=2000 [all]=4000)
refuse_full_disk() {
  local free built
  free=$(df -Pm "$build" 2>/dev/null | awk 'NR == 2 { print $4 - 0 }')
  built=$(du -sm "$build" 2>/dev/null | cut -f 1) # by an earlier call
  if [[ -n $free ]] && ((free + built < room[$kind])); then
    give_up "the disk under $build has $free MB left, and this build takes up to" \
      "${room[$kind]} MB: make room, or name another folder with --build-dir DIR"
  fi
}

# One configuration that grows: the gate, CUDA and tests stay on once they were asked for. What was
# built before stays as it is, since nobody's flags change; a command picks the targets it needs.
# The stamp has a line each for the tools, CUDA's options with the machine's GPUs, and the others.
configure() {
  local stamp=$build/configured before=('' '' '') tools options=() cuda other part fresh=()
  # MPI is optional, and may have come since.
  tools="$compiler $(command -v ninja) $(command -v mpicxx)"
  if [[ -e $build/CMakeCache.txt && -e $stamp ]]; then mapfile -t before <"$stamp"; fi
  cuda=${before[1]} other=${before[2]}
  if needed_by cuda; then
    options=(-DFATHOM_CUDA=ON -DFATHOM_ARCHITECTURES="${FATHOM_ARCHITECTURES-}"
      -DCMAKE_CUDA_COMPILER="$toolkit/bin/nvcc" -DCUDAToolkit_ROOT="$toolkit")
    cuda="${options[*]} $(grep -hsE '^(Model|GPU UUID)' /proc/driver/nvidia/gpus/*/information)"
    cuda=${cuda//$'\n'/ }
    export CUDAHOSTCXX=${CUDAHOSTCXX-${CXX-}}
  fi
  for part in gate gpu_tests tests; do
    if needed_by $part && [[ $other != *FATHOM_${part^^}=ON* ]]; then
      other+="-DFATHOM_${part^^}=ON "
    fi
  done
  if [[ "${before[*]}" == "$tools $cuda $other" ]]; then return; fi
  # Only like this CMake lets go of another compiler or toolkit in its cache.
  if [[ ${before[0]} != "$tools" || ${before[1]} != @(|"$cuda") ]]; then
    fresh=(--fresh -DFATHOM_{CUDA,GATE,TESTS,GPU_TESTS}"=OFF")
    if has_program ninja; then fresh+=(-G Ninja); fi
    if ! needed_by cuda; then cuda=''; fi
  fi
  refuse_full_disk
  rm -f "$stamp"
  # shellcheck disable=SC2086  # several options
  logged "configuring" cmake "${fresh[@]}" -S "$root" -B "$build" "${options[@]}" $other ||
    give_up_with_log "CMake could not configure the build: see above and $log"
  printf '%s\n' "$tools" "$cuda" "$other" >"$stamp"
}

# As many jobs as cores, but 2 GB of memory for each: nvcc needs up to that.
jobs_at_once() {
  local cores memory
  cores=$(nproc)
  memory=$(awk '/^MemAvailable/ { print int($2 / 2000000) }' /proc/meminfo)
  if ((memory < cores)); then cores=$((memory > 0 ? memory : 1)); fi
  echo "$cores"
}

names_of_tests() {
  ctest --test-dir "$build" -N -LE "$left_out" "${ctest_flags[@]}" "$@" 2>/dev/null |
    sed -n 's/^ *Test *#[0-9]*: //p'
}

# Runs the tests that this machine can run, and says which it cannot.
run_tests() {
  local skipped=() status=0
  if ! has_gpu; then
    mapfile -t skipped < <(names_of_tests -L '^gpu$')
    left_out+='|^gpu$'
  fi
  if [[ -z ${skipped[*]}$(names_of_tests) ]]; then
    fail "$BAD_INPUT" "no test matches '${ctest_flags[*]}' (slow ones need --all): 'ctest\
 --test-dir $build -N' lists them"
  fi
  ctest --test-dir "$build" --output-on-failure --no-tests=ignore -j "$(jobs_at_once)" \
    -LE "$left_out" "${ctest_flags[@]}" </dev/null || status=$CHECK_FAILED
  if ((${#skipped[@]})); then
    printf '\nSkipped for want of a GPU:\n'
    printf '  %s\n' "${skipped[@]}"
  fi
  if [[ $kind != all ]]; then
    printf "\nLeft out: slow tests, and without a GPU its own; './fathom test --all' has them.\n"
  fi
  return "$status"
}
