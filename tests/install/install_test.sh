#!/usr/bin/env bash
# Tests of what is installed and packed, of the completions, and of packaging/:
# install_test.sh CASE SOURCE BUILD. Exit code 77: skipped, with the reason.
set -euo pipefail
case=$1 source=$(realpath "$2") build=$(realpath "$3")
work=$(mktemp -d "${TMPDIR:-/tmp}/fathom-install.XXXXXX")
trap 'rm -rf --one-file-system "$work"' EXIT

fail() { echo "FAILED: $*" >&2; exit 1; }
skip() { echo "SKIPPED: $*" >&2; exit 77; }

# needs PROGRAM...: skips where one is not there.
needs() {
  local program
  for program; do
    command -v "$program" >/dev/null || skip "there is no $program"
  done
}

# logged COMMAND...: fails with the end of what it says.
logged() { "$@" >"$work/log" 2>&1 || fail "'$*' ended badly: $(tail -n 15 "$work/log")"; }

# --- What is installed and packed: programs run from a tree that was moved, so that a path of the
# build would show.

# Nothing of the caller's environment may help a program to find its files.
alone() { env -i PATH=/usr/bin:/bin HOME="$work" "$@"; }

# The commands that have a page, as the help nests them.
pages() { (cd "$build/share/man/man1" && ls); }

probes_of() { grep -o '"probe": *"[a-z_]*"' "$1" | tr -d ' ' | sort -u; }

# works PREFIX: its programs run, and find each other, the recordings and their libraries.
works() {
  local prefix=$1 file suite found
  found=$(grep -rlF -e "$source/" -e "$build" "$prefix" || true)
  [[ -z $found ]] || fail "paths of the build are in: $found"
  [[ $(alone "$prefix/bin/fathom" --version) == "fathom $version "* ]] || fail "no version $version"
  for suite in quick atlas gemm; do
    cd "$work"
    logged alone "$prefix/bin/fathom" run --replay --no-report --suite $suite --out $suite
    cmp -s <(probes_of "$source/recordings/h200/${suite/quick/.}/result.json") \
      <(probes_of "$suite/result.json") || fail "the replay of $suite is another recording"
  done
  for file in schema.json machine.schema.json; do
    [[ -e $prefix/share/fathom/$file ]] || fail "no $file"
  done
  for file in $(pages); do
    [[ -s $prefix/share/man/man1/$file ]] || fail "no man page $file"
  done
  [[ -d $prefix/libexec/fathom ]] || return 0 # a build without CUDA
  for file in "$prefix"/libexec/fathom/*; do
    alone "$file" --help >/dev/null || fail "$file has no help"
  done
  for file in "$build"/bin/probe_* "$build"/bin/gemm_ladder "$build"/bin/fathom-device; do
    [[ -x $prefix/libexec/fathom/${file##*/} ]] || fail "${file##*/} is not installed"
  done
  [[ $(alone "$prefix/bin/fathom" list) == *tail_effect* ]] || fail "fathom finds no probes"
}

# brings_libraries PREFIX: those beside the C library are found in the tree itself.
brings_libraries() {
  ldd "$1/bin/fathom" | grep -F libfmt | grep -qF "=> $1/" || fail "$1 lacks libfmt"
}

version=$(sed -n 's/^CMAKE_PROJECT_VERSION:STATIC=//p' "$build/CMakeCache.txt")
[[ -n $version ]] || fail "$build has no version"

# --- The completions: a real shell is asked what it would offer.

# offers LINE WORD...: these words are among what is offered at the end of the line.
offers() {
  local line=$1 word offered
  offered=$("offered_by_$case" "$line")
  shift
  for word; do
    grep -qxF -e "$word" <<<"$offered" ||
      fail "$case does not offer '$word' after '$line', but: ${offered//$'\n'/ }"
  done
}

# only LINE WORD...: exactly these.
only() {
  local line=$1 offered
  offered=$("offered_by_$case" "$line" | sort)
  shift
  [[ $offered == "$(printf '%s\n' "$@" | sort)" ]] ||
    fail "$case offers after '$line': ${offered//$'\n'/ }; wanted: $*"
}

completions=$source/tools/completions

offered_by_bash() {
  bash --norc -c '
    source "$1"
    [[ $(complete -p fathom) == *_fathom* ]] || exit 1
    read -ra COMP_WORDS <<<"${2//=/ = }"
    [[ $2 != *" " ]] || COMP_WORDS+=("")
    COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
    _fathom
    printf "%s\n" "${COMPREPLY[@]}"' - "$completions/fathom.bash" "$1"
}

offered_by_fish() {
  fish --no-config -c '
    source $argv[1]
    complete -C $argv[2]' "$completions/fathom.fish" "$1" | cut -f 1
}

# zsh completes on a terminal only: this one is its own, and compadd tells what it would add. The
# words waited for are typed with a backslash, so that their echo is none of them.
offered_by_zsh() {
  zsh -f -c '
    zmodload zsh/zpty
    zpty shell zsh -f -i
    send() { zpty -w shell "$1" }
    send "stty -echo; PS1= ; fpath=(${(q)1} \$fpath); autoload -Uz compinit; compinit -u -D"
    send "compadd() { local -a all; builtin compadd -O all \"\$@\"
      print -rl -- \"offer:\"\$^all; builtin compadd \"\$@\" }"
    send "zstyle \":completion:*\" list-colors \"\"; bindkey \"^I\" complete-word; print rea\\dy:"
    local out
    zpty -r -m shell out "*ready:*"
    zpty -n -w shell "$2"$'"'\t'"'
    sleep 1
    zpty -n -w shell $'"'\\x15'"'
    send "print do\\ne:"
    zpty -r -m shell out "*done:*"
    print -r -- "$out"' - "$completions" "$1" |
    tr -d '\r' | sed -n 's/.*offer:\(..*\)/\1/p' | sort -u
}

case $case in
  moved)
    logged cmake --install "$build" --prefix "$work/first"
    mv "$work/first" "$work/moved here"
    if grep -rqF "$work/first" "$work/moved here"; then fail "it holds the path of its prefix"; fi
    works "$work/moved here"
    # Copied as scp does, which follows links.
    cp -rL "$work/moved here" "$work/copied" && rm -r "$work/moved here"
    works "$work/copied"
    brings_libraries "$work/copied"
    ;;
  packed)
    needs cpack dpkg-deb dpkg-shlibdeps
    logged cpack --config "$build/CPackConfig.cmake" -B "$work"
    mkdir "$work/tar"
    tar -xzf "$work"/fathom-"$version"-Linux.tar.gz -C "$work/tar" --strip-components 1
    works "$work/tar"
    brings_libraries "$work/tar"
    dpkg-deb -x "$work"/fathom_"$version"*.deb "$work/deb"
    works "$work/deb/usr"
    [[ -z $(find "$work/deb/usr" -name 'libfmt*') ]] ||
      fail "the .deb holds libraries that it depends on"
    depends=$(dpkg-deb -f "$work"/fathom_"$version"*.deb Depends)
    for package in libc6 libfmt; do
      [[ $depends == *$package* ]] || fail "the .deb does not depend on $package: $depends"
    done
    ;;
  man\ pages)
    count=$(pages | wc -l)
    ((count >= 20)) || fail "there are $count pages"
    needs mandoc
    complaints=$(cd "$build/share/man/man1" && mandoc -T lint ./*.1 || true)
    [[ -z $complaints ]] || fail "$complaints"
    ;;
  bash | zsh | fish)
    needs "$case"
    PATH=$build/bin:$PATH
    offers "fathom " run list doctor report compare export recording predict check baseline \
      history fleet
    offers "fathom run --" --suite --out --require-gpu --help
    only "fathom run --suite " quick default atlas atlas-quick gemm gemm-quick
    only "fathom run --suite at" atlas atlas-quick
    only "fathom predict sh" shared
    offers "fathom predict shared " load store
    offers "fathom predict shared --" --stride
    only "fathom fleet c" collect
    [[ $case != bash ]] || only "fathom run --suite=gem" gemm gemm-quick
    ;;
  fetched)
    # Where a machine has none of the libraries in cmake/dependencies.txt, CMake fetches each from
    # the repository and at the commit that stand there. Here empty folders stand for what is
    # fetched.
    mkdir "$work/empty"
    touch "$work/empty/CMakeLists.txt"
    printf '%s\n' 'cmake_minimum_required(VERSION 3.24)' 'project(fetched LANGUAGES NONE)' \
      "include($source/cmake/Dependencies.cmake)" >"$work/CMakeLists.txt"
    flags=(-DFATHOM_CUDA=ON -DFATHOM_GATE=ON -DFATHOM_TESTS=ON -DCMAKE_FIND_ROOT_PATH="$work/empty"
      -DCMAKE_FIND_ROOT_PATH_MODE_INCLUDE=ONLY -DCMAKE_FIND_ROOT_PATH_MODE_PACKAGE=ONLY)
    mapfile -t libraries < <(grep '^  [A-Za-z]' "$source/cmake/dependencies.txt")
    ((${#libraries[@]} >= 10)) || fail "the list has only ${#libraries[@]} libraries"
    for library in "${libraries[@]}"; do
      read -r name _ <<<"$library"
      flags+=("-DFETCHCONTENT_SOURCE_DIR_${name^^}=$work/empty")
    done
    logged cmake -S "$work" -B "$work/build" "${flags[@]}"
    for library in "${libraries[@]}"; do
      read -r name _ repository commit _ <<<"$library"
      grep -qxF -- "-- $name: fetched from $repository at $commit" "$work/log" ||
        fail "$name is not fetched from $repository at $commit: $(<"$work/log")"
      [[ $repository =~ ^https://.*\.git$ && $commit =~ ^[0-9a-f]{40}$ ]] ||
        fail "$name: $repository at $commit is no repository or no commit"
    done
    ;;
  recipes)
    bash -n "$source/packaging/build.sh" || fail "build.sh is no bash"
    for recipe in Dockerfile fathom.def spack/package.py; do
      grep -Eq 'packaging.*build\.sh' "$source/packaging/$recipe" ||
        fail "$recipe does not run build.sh"
    done
    status=0
    "$source/packaging/build.sh" relative 2>"$work/said" || status=$?
    [[ $status == 2 && $(<"$work/said") == usage:* ]] || fail "a relative prefix is not refused"
    needs python3
    python3 -c 'import ast, sys; ast.parse(open(sys.argv[1]).read())' \
      "$source/packaging/spack/package.py" || fail "package.py is no Python"
    needs hadolint # to read the Dockerfile; the rest is in order
    hadolint "$source/packaging/Dockerfile" || fail "hadolint refuses the Dockerfile"
    ;;
  chroot)
    ((EUID == 0)) || skip "a chroot needs root"
    needs debootstrap chroot apt-get
    unshare --mount true 2>/dev/null || skip "no file system may be mounted here"
    # The mirror and release that this machine installs from.
    release=$(. /etc/os-release && echo "${VERSION_CODENAME-}")
    mirror=$(apt-get indextargets --format '$(REPO_URI)' \
      'Created-By: Packages' "Release: $release" \
      'Component: main' | head -n 1)
    [[ -n $mirror ]] || skip "apt names no mirror for '$release'"
    debootstrap --variant=minbase "$release" "$work/root" "$mirror" >"$work/log" 2>&1 ||
      skip "debootstrap could not fill an empty folder: $(tail -n 1 "$work/log")"
    # What lies in the working tree and git does not ignore.
    mkdir "$work/root/fathom"
    (cd "$source" && git ls-files -z --cached --others --exclude-standard |
      while IFS= read -r -d '' file; do [[ ! -e $file ]] || printf '%s\0' "$file"; done |
      tar -c --null -T -) | tar -x -C "$work/root/fathom"
    cp -L /etc/resolv.conf /etc/hosts "$work/root/etc/"
    apt-config dump | grep '^Acquire::' >"$work/root/etc/apt/apt.conf.d/90of-this-machine" || true
    # These name places and programs outside of the chroot.
    unset TMPDIR CMAKE_C_COMPILER_LAUNCHER CMAKE_CXX_COMPILER_LAUNCHER CMAKE_CUDA_COMPILER_LAUNCHER
    # A program finds itself by /proc, which is mounted for that program alone.
    inside() {
      unshare --mount sh -c 'mount -t proc proc "$1/proc" && exec chroot "$@"' - "$work/root" "$@"
    }
    logged inside /fathom/packaging/build.sh --packages /opt/fathom -DFATHOM_CUDA=OFF
    inside rm -rf /fathom
    logged inside /opt/fathom/bin/fathom run --suite quick --out /tmp/out
    grep -q REPLAY "$work/root/tmp/out/report/README.md" || fail "no report of the recording"
    [[ -s $work/root/tmp/out/report/index.html ]] || fail "the report has no page to explore"
    ;;
  *) fail "there is no case '$case'" ;;
esac
