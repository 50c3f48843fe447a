#!/usr/bin/env bash
# Tests of packaging/: packaging_test.sh CASE SOURCE. Exit code 77: skipped, with the reason.
set -euo pipefail
case=$1 source=$(realpath "$2")
work=$(mktemp -d "${TMPDIR:-/tmp}/fathom-packaging.XXXXXX")
trap 'rm -rf --one-file-system "$work"' EXIT

fail() { echo "FAILED: $*" >&2; exit 1; }
skip() { echo "SKIPPED: $*" >&2; exit 77; }

case $case in
  syntax)
    bash -n "$source/packaging/build.sh" || fail "build.sh is no bash"
    for recipe in Dockerfile fathom.def spack/package.py; do
      grep -Eq 'packaging.*build\.sh' "$source/packaging/$recipe" ||
        fail "$recipe does not run build.sh"
    done
    status=0
    "$source/packaging/build.sh" relative 2>"$work/said" || status=$?
    [[ $status == 2 && $(<"$work/said") == usage:* ]] || fail "a relative prefix is not refused"
    command -v python3 >/dev/null || skip "there is no python3 to read package.py"
    python3 -c 'import ast, sys; ast.parse(open(sys.argv[1]).read())' \
      "$source/packaging/spack/package.py" ||
      fail "package.py is no Python"
    command -v hadolint >/dev/null ||
      skip "there is no hadolint to read the Dockerfile; the rest is in order"
    hadolint "$source/packaging/Dockerfile" || fail "hadolint refuses the Dockerfile"
    ;;
  chroot)
    ((EUID == 0)) || skip "a chroot needs root"
    for program in debootstrap chroot apt-get; do
      command -v $program >/dev/null || skip "there is no $program"
    done
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
    inside /fathom/packaging/build.sh --packages /opt/fathom -DFATHOM_CUDA=OFF >"$work/log" 2>&1 ||
      fail "build.sh ended badly: $(tail -n 15 "$work/log")"
    inside rm -rf /fathom
    inside /opt/fathom/bin/fathom run --suite quick --out /tmp/out >"$work/said" 2>&1 ||
      fail "the installed fathom does not run: $(<"$work/said")"
    grep -q REPLAY "$work/root/tmp/out/report/README.md" || fail "no report of the recording"
    [[ -s $work/root/tmp/out/report/index.html ]] || fail "the report has no page to explore"
    ;;
  *) fail "there is no case '$case'" ;;
esac
