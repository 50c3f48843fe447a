# shellcheck shell=bash disable=SC2154  # variables are shared with the entry script
# From a bare machine to built programs: checks, installs, configures, builds. What was found is kept
# in <build>/setup.stamp, so that the next call goes straight to the build tool.

# set_up programs|tests
set_up() {
  trap 'clear_progress; fail "$INTERRUPTED" "interrupted; the next call goes on from here"' INT TERM
  if [[ $install == no ]]; then
    find_toolkit "$1"
    find_missing "$1"
    if ((${#missing[@]} + ${#wheels[@]})); then
      list_missing
      fail "$SETUP_INCOMPLETE" "set-up is incomplete: start without --no-install, or install the above"
    fi
  fi
  prepare_build_folder
  local state stamp=$build/setup.stamp
  state=$(setup_state)
  # A stamp of the tests' set-up covers that of the programs.
  if [[ $install == yes && -e $stamp ]] && { grep -qxF "tests $state" "$stamp" ||
    grep -qxF "$1 $state" "$stamp"; }; then
    toolkit=$(sed -n 's/^toolkit //p' "$stamp")
  else
    : >"$log"
    install_missing "$1"
    printf '%s\n' "$1 $state" "toolkit $toolkit" >"$stamp"
  fi
  configure "$1"
  compile
  exec {lock}>&-
  trap - INT TERM
}

prepare_build_folder() {
  mkdir -p "$build" 2>/dev/null
  if [[ ! -d $build || ! -w $build ]]; then
    fail "$OUTPUT_UNWRITABLE" "the build folder $build cannot be written: name another with --build-dir DIR"
  fi
  exec {lock}>"$build/.setup.lock"
  if ! flock -n "$lock"; then
    say "Another ./fathom is setting up in $build: waiting for it."
    flock "$lock"
  fi
}

# One line that changes when anything does that the checks depend on.
setup_state() {
  {
    cat "$root"/tools/setup/*.sh "$root"/tools/setup/requirements/*
    echo "$PATH|${CUDA_HOME-}|${CUDA_PATH-}|${FATHOM_TOOLKIT-}|${CPATH-}|${CMAKE_PREFIX_PATH-}"
    gpu_models
  } | cksum
}

list_missing() {
  local i
  say "Missing on this machine:"
  for i in "${!missing[@]}"; do printf '  %-20s %s\n' "${missing[i]}" "${reasons[i]}" >&2; done
  for i in "${wheels[@]}"; do printf '  %-20s %s\n' "$i" "$(describe_wheels "$i")" >&2; done
}

install_missing() {
  find_toolkit "$1"
  find_missing "$1"
  if ((${#missing[@]} + ${#wheels[@]} == 0)); then return; fi
  list_missing
  if ((${#missing[@]})); then
    install_packages
    find_missing "$1"
    if ((${#missing[@]})); then
      list_missing
      fail "$SETUP_INCOMPLETE" "apt-get has these only in a version that is too old, or not at all: install them by hand"
    fi
  fi
  if ((${#wheels[@]})); then install_wheels; fi
}

configure() {
  local stamp=$build/configure.stamp state tests=OFF options
  # Tests stay on once they were asked for: turning them off again would only rebuild.
  if [[ $1 == tests ]] || grep -qsx 'FATHOM_TESTS:BOOL=ON' "$build/CMakeCache.txt"; then tests=ON; fi
  # MPI is optional, and may have come since: the fleet's ranks are built where it is.
  state="$toolkit $tests $(gpu_models | cksum) $(command -v mpicxx)"
  if [[ -e $build/CMakeCache.txt && -e $stamp && $(<"$stamp") == "$state" ]]; then return; fi
  options=(-DFATHOM_TESTS="$tests" -DCMAKE_CUDA_COMPILER="$toolkit/bin/nvcc" -DCUDAToolkit_ROOT="$toolkit")
  if has_program ninja; then options+=(-G Ninja); fi
  say "Configuring with the CUDA toolkit in $toolkit"
  # --fresh: CMake would not let go of another toolkit in its cache.
  logged "configuring" 10 cmake --fresh -S "$root" -B "$build" "${options[@]}" ||
    { give_up_stamp && fail_with_log "$SETUP_INCOMPLETE" "CMake could not configure the build: see above and $log"; }
  printf '%s\n' "$state" >"$stamp"
}

# The next call then checks everything again: a package may have been removed since.
give_up_stamp() { rm -f "$build/setup.stamp" "$build/configure.stamp"; }

# As many jobs as cores, but 2 GB of memory for each: nvcc needs up to that.
jobs_at_once() {
  local cores memory
  cores=$(nproc)
  memory=$(awk '/^MemAvailable/ { print int($2 / 2000000) }' /proc/meminfo)
  if ((memory < cores)); then cores=$((memory > 0 ? memory : 1)); fi
  echo "$cores"
}

compile() {
  local start=$SECONDS status
  printf '\n== building\n' >>"$log"
  NINJA_STATUS='[%f/%t] ' cmake --build "$build" --parallel "$(jobs_at_once)" 2>&1 </dev/null |
    tee -a "$log" | show_build
  status=${PIPESTATUS[0]}
  clear_progress
  if ((status)); then
    give_up_stamp
    fail_with_log "$SETUP_INCOMPLETE" "the build failed: see above and $log"
  fi
  if ((SECONDS - start > 5)); then say "Built in $(duration $((SECONDS - start)))."; fi
}

# Turns ninja's "[12/345] ..." and make's "[ 12%] ..." into one line with what is left, and without a
# terminal into a line each tenth.
show_build() {
  local line steps=0 total=0 start=$SECONDS tenth=0 left status
  while true; do
    IFS= read -r -t 1 line
    status=$?
    if ((status == 0)); then
      if [[ $line =~ ^\[([0-9]+)/([0-9]+)\] ]]; then
        steps=${BASH_REMATCH[1]} total=${BASH_REMATCH[2]}
      elif [[ $line =~ ^\[\ *([0-9]+)%\] ]]; then
        steps=${BASH_REMATCH[1]} total=100
      fi
    elif ((status <= 128)); then
      return # the end; above 128 it is the second that went by
    fi
    if ((steps == 0 || total < 3)); then continue; fi
    left=$(((SECONDS - start) * (total - steps) / steps))
    if [[ -t 2 ]]; then
      progress "building: $steps of $total steps, $(duration $((SECONDS - start))), about $(duration $left) left"
    elif ((steps * 10 / total > tenth)); then
      tenth=$((steps * 10 / total))
      say "building: $steps of $total steps after $(duration $((SECONDS - start)))"
    fi
  done
}
