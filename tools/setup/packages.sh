# shellcheck shell=bash disable=SC2154  # variables are shared with the entry script
# Installs missing packages with apt, on Debian and Ubuntu. The only part that needs root.

# Sets as_root to what makes a command run as root, or fails with what the user can do instead.
find_root() {
  as_root=(env DEBIAN_FRONTEND=noninteractive)
  local by_hand="apt-get install ${missing[*]}"
  if ! has_program apt-get; then
    fail "$SETUP_INCOMPLETE" "this machine has no apt-get: install the above with its own package manager (Debian's names: ${missing[*]})"
  elif ((EUID == 0)); then
    return
  elif ! has_program sudo; then
    fail "$SETUP_INCOMPLETE" "installing packages needs root, and there is no sudo: have an administrator run '$by_hand'"
  elif [[ ! -t 0 ]] && ! sudo -n true 2>/dev/null; then
    fail "$SETUP_INCOMPLETE" "installing packages needs root, and sudo wants a password: run 'sudo $by_hand' first"
  fi
  say "Root is needed for the packages alone, through sudo."
  sudo -v || fail "$SETUP_INCOMPLETE" "sudo refused: run 'sudo $by_hand' first"
  as_root=(sudo "${as_root[@]}")
}

apt() { "${as_root[@]}" apt-get -y -q -o DPkg::Lock::Timeout=300 "$@"; }

install_packages() {
  find_root
  say "Installing with apt-get: ${missing[*]}"
  logged "reading the package lists" 15 apt update || say "apt-get update failed; going on with the lists that are there."
  local package packages=() catch2=no
  for package in "${missing[@]}"; do
    if [[ $package == catch2 ]] && ! at_least 3 "$(candidate catch2)"; then
      catch2=backports
    else
      packages+=("$package")
    fi
  done
  if ((${#packages[@]})); then
    logged "installing ${#packages[@]} packages" 90 apt install --no-install-recommends "${packages[@]}" ||
      fail_with_log "$SETUP_INCOMPLETE" "apt-get could not install ${packages[*]}: put right what it says above, then start again"
  fi
  if [[ $catch2 == backports ]]; then install_catch2_from_backports; fi
}

candidate() { LC_ALL=C apt-cache policy "$1" 2>/dev/null | sed -n 's/^ *Candidate: *//p'; }

# keyring_of_entry FILE NUMBER: what that entry of a list of sources is signed by. The number is the
# line in a .list ('[signed-by=FILE]'), the paragraph in a .sources ('Signed-By: FILE').
keyring_of_entry() {
  local separator='\n'
  if [[ $1 == *.sources ]]; then separator=''; fi
  awk -v RS="$separator" -v number="$2" 'NR == number' "$1" 2>/dev/null |
    sed -nE 's/.*signed-by[:=] *([^] ]+).*/\1/Ip'
}

# Debian 12 has Catch2 3 in its backports only. They are read from the mirror that the machine uses
# anyway, through a list of sources of our own: nothing in /etc/apt changes.
install_catch2_from_backports() {
  local codename folder options mirror entry keyring
  # shellcheck source=/dev/null
  codename=$(. /etc/os-release && echo "${VERSION_CODENAME-}")
  IFS='|' read -r mirror entry < <(apt-get indextargets \
    --format "\$(REPO_URI)|\$(SOURCESENTRY)" 'Created-By: Packages' "Release: $codename" "Component: main")
  [[ -n $mirror ]] || fail "$SETUP_INCOMPLETE" "apt names no mirror for $codename: install Catch2 version 3 by hand (package catch2), then start again"
  keyring=$(keyring_of_entry "${entry%:*}" "${entry##*:}")
  folder=$(mktemp -d "$build/backports.XXXXXX")
  mkdir -p "$folder/lists/partial"
  printf 'deb %s %s %s-backports main\n' "${keyring:+[signed-by=$keyring]}" "$mirror" "$codename" \
    >"$folder/backports.list"
  options=(-o "Dir::Etc::SourceList=$folder/backports.list" -o Dir::Etc::SourceParts=-
    -o "Dir::State::Lists=$folder/lists" -o Dir::Cache::pkgcache= -o Dir::Cache::srcpkgcache=
    -o APT::Sandbox::User=root)
  say "Catch2 3 comes from $codename-backports on the machine's own mirror; /etc/apt stays as it is."
  { logged "reading the backports' list" 5 apt "${options[@]}" update &&
    logged "installing Catch2" 10 apt "${options[@]}" install --no-install-recommends \
      -t "$codename-backports" catch2; } ||
    fail_with_log "$SETUP_INCOMPLETE" "Catch2 version 3 could not be installed from $codename-backports: install it by hand (package catch2), then start again"
  "${as_root[@]}" rm -rf "$folder"
}
