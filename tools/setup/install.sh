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
    if ((${#missing[@]})); then
      give_up "apt-get has these only in a version that is too old, or not at all: install them" \
        "by hand: ${missing[*]}"
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
      "'apt-get install ${missing[*]}'"
  fi
  as_root=(sudo "${as_root[@]}")
}

apt() {
  "${as_root[@]}" apt-get -y -q --no-install-recommends -o DPkg::Lock::Timeout=300 "$@"
}

apt_failed() {
  give_up_with_log "apt-get could not install ${missing[*]}: put right what it says above, such" \
    "as the network, and start again, or run 'sudo apt-get install ${missing[*]}' first"
}

install_packages() {
  find_root
  say "Installing with apt-get: ${missing[*]}"
  # Without new lists those that are there may do.
  logged "reading the package lists" apt update
  # Debian 12 itself has version 2.
  if [[ " ${missing[*]} " == *" catch2 "* ]] && ! at_least 3 "$(candidate catch2)"; then
    install_from_backports catch2
  fi
  logged "installing ${#missing[@]} packages" apt install "${missing[@]}" || apt_failed
}

candidate() { LC_ALL=C apt-cache policy "$1" 2>/dev/null | sed -n 's/^ *Candidate: *//p'; }

# install_from_backports PACKAGE: from the mirror that the machine uses anyway, through a list of
# sources of our own: nothing in /etc/apt changes.
install_from_backports() {
  local codename folder options mirror keyring=/usr/share/keyrings/debian-archive-keyring.gpg
  # shellcheck source=/dev/null
  codename=$(. /etc/os-release && echo "${VERSION_CODENAME-}")
  mirror=$(apt-get indextargets --format "\$(REPO_URI)" 'Created-By: Packages' \
    "Release: $codename" "Component: main" | head -n 1)
  folder=$(mktemp -d "$build/backports.XXXXXX")
  mkdir -p "$folder/lists/partial"
  echo "deb [signed-by=$keyring] $mirror $codename-backports main" >"$folder/backports.list"
  options=(-o "Dir::Etc::SourceList=$folder/backports.list" -o Dir::Etc::SourceParts=-
    -o "Dir::State::Lists=$folder/lists" -o Dir::Cache::pkgcache= -o Dir::Cache::srcpkgcache=
    -o APT::Sandbox::User=root)
  say "$1 from $codename-backports on the machine's own mirror; /etc/apt stays as it is."
  logged "reading the backports' list" apt "${options[@]}" update || apt_failed
  logged "installing $1" apt "${options[@]}" install -t "$codename-backports" "$1" || apt_failed
  "${as_root[@]}" rm -rf "$folder"
}

install_wheels() {
  local name from library link staging=$build/toolkit.new python=python3
  if ! has_pip; then # but an environment of its own would have it
    python=$build/toolkit-python/bin/python3
    logged "preparing Python" python3 -m venv --clear "$build/toolkit-python" ||
      give_up_with_log "python3 could not make an environment for the wheels"
  fi
  for name in "${wheels[@]}"; do
    say "Fetching ${reasons[$name]}, into $build/toolkit"
    rm -rf "$staging"
    logged "fetching $name" "$python" -m pip install --disable-pip-version-check --no-deps \
      --require-hashes --only-binary=:all: --target "$staging" \
      -r "$root/tools/setup/requirements/$name.txt" ||
      give_up_with_log "pip could not fetch the wheels of $name: see to the network and start" \
        "again, or install the CUDA toolkit 12.8 or newer and set CUDA_HOME"
    mkdir -p "$build/toolkit"
    from=$staging/nvidia/cu13
    if [[ ! -d $from ]]; then from=$staging; fi
    cp -r "$from/." "$build/toolkit/" && rm -rf "$staging"
    # Libraries have the name under which programs load them; compilers and CMake look for the one
    # without a version, and in lib64.
    if [[ -d $build/toolkit/lib ]]; then ln -sfn lib "$build/toolkit/lib64"; fi
    for library in "$build"/toolkit/lib/*.so.*; do
      link=${library%%.so.*}.so
      [[ -e $link || ! -e $library ]] || ln -s "${library##*/}" "$link"
    done
    touch "$(mark_of "$name")"
  done
}
