# shellcheck shell=bash disable=SC2154  # variables are shared with the entry script
# Installs what is missing: packages with apt (Debian and Ubuntu; the only part that needs root),
# and the pinned CUDA toolkit from Python wheels into <build>/toolkit.

install_missing() {
  if ((${#missing[@]} + ${#wheels[@]} == 0)); then return; fi
  list_missing
  refuse_full_disk
  if ((${#missing[@]})); then
    install_packages
    find_missing
    # Debian 12 itself has version 2 of Catch2.
    if ((${#missing[@]})); then
      say "apt-get has ${missing[*]} too old or not at all: CMake fetches the libraries among them."
    fi
  fi
  if ((${#wheels[@]})); then install_wheels; fi
}

# Sets as_root to what makes a command run as root, or fails with what the user can do instead.
find_root() {
  as_root=(env DEBIAN_FRONTEND=noninteractive)
  has_program apt-get ||
    give_up "this machine has no apt-get: install the above with its own package manager" \
      "(Debian's names: ${missing[*]})"
  if ((EUID == 0)); then return; fi
  local sudo=(sudo)
  [[ -t 0 ]] || sudo+=(-n) # nobody could type a password
  if has_program sudo; then say "Root is needed for the packages alone, through sudo."; fi
  if ! has_program sudo || ! "${sudo[@]}" true 2>/dev/null; then
    give_up "installing packages needs root, which sudo does not give: have an administrator run" \
      "'$by_hand'"
  fi
  as_root=(sudo "${as_root[@]}")
}

apt() {
  "${as_root[@]}" apt-get -y -q --no-install-recommends -o DPkg::Lock::Timeout=300 "$@"
}

# The sentence is all that helps where no server answers; else the log has apt's own reason.
apt_failed() {
  local offline='Could not (resolve|connect)|Temporary failure|Unable to connect|Failed to fetch'
  if grep -qE "$offline" "$log"; then
    give_up "no network: apt-get could not fetch ${missing[*]}; start again once there is one," \
      "or run 'sudo $by_hand' first ($log has its words)"
  fi
  give_up_with_log "apt-get could not install ${missing[*]}: put right what it says above, or run" \
    "'sudo $by_hand' first"
}

install_packages() {
  local by_hand="apt-get install ${missing[*]}"
  find_root
  say "Installing with apt-get: ${missing[*]}"
  logged "reading the package lists" apt update ||
    say "apt-get update failed; going on with the lists that are there."
  logged "installing ${#missing[@]} packages" apt install "${missing[@]}" || apt_failed
}

install_wheels() {
  local python=python3 name arguments from staging=$build/toolkit.new
  if ! python3 -m pip --version >/dev/null 2>&1; then
    python=$build/toolkit-python/bin/python3
    "$python" -m pip --version >/dev/null 2>&1 ||
      logged "preparing a Python environment" python3 -m venv --clear "$build/toolkit-python" ||
      give_up_with_log "python3 could not make an environment for the wheels"
  fi
  for name in "${wheels[@]}"; do
    say "Fetching $(describe_wheels "$name"), into $build/toolkit"
    rm -rf "$staging"
    arguments=(-m pip install --disable-pip-version-check --no-deps --require-hashes
      --only-binary=:all: --target "$staging" -r "$root/tools/setup/requirements/$name.txt")
    logged "fetching $name" "$python" "${arguments[@]}" ||
      give_up "pip could not fetch the wheels of $name: see to the network and start again" \
        "('$python ${arguments[*]}' shows what is wrong)," \
        "or install the CUDA toolkit 12.8 or newer and set CUDA_HOME"
    mkdir -p "$build/toolkit"
    from=$staging/nvidia/cu13
    if [[ ! -d $from ]]; then from=$staging; fi
    cp -r "$from/." "$build/toolkit/" && rm -rf "$staging"
    link_libraries
    touch "$(mark_of "$name")"
  done
}

# The wheels hold libraries under the name that programs load; compilers and CMake look for the name
# without a version, and in lib64.
link_libraries() {
  local library plain
  if [[ ! -d $build/toolkit/lib ]]; then return; fi
  ln -sfn lib "$build/toolkit/lib64"
  for library in "$build"/toolkit/lib/*.so.*; do
    plain=${library%%.so.*}.so
    [[ -e $plain ]] || ln -s "${library##*/}" "$plain"
  done
}
