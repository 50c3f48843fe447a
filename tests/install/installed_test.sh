#!/usr/bin/env bash
# Tests of what is installed and packed: installed_test.sh CASE SOURCE BUILD. Each runs programs
# from a tree that was moved, so that a path of the build would show. Exit code 77: skipped.
set -euo pipefail
case=$1 source=$(realpath "$2") build=$(realpath "$3")
work=$(mktemp -d "${TMPDIR:-/tmp}/fathom-installed.XXXXXX")
trap 'rm -rf "$work"' EXIT

fail() { echo "FAILED: $*" >&2; exit 1; }
skip() { echo "SKIPPED: $*" >&2; exit 77; }

# Nothing of the caller's environment may help a program to find its files.
alone() { env -i PATH=/usr/bin:/bin HOME="$work" "$@"; }

# The commands that have a page, as the help nests them.
pages() { (cd "$build/share/man/man1" && ls); }

# no_build_path TREE
no_build_path() {
  local found
  found=$(grep -rlF -e "$source/" -e "$build" "$1" || true)
  [[ -z $found ]] || fail "paths of the build are in: $found"
}

# works PREFIX: its programs run, and find each other, the recordings and their libraries.
works() {
  local prefix=$1 program
  no_build_path "$prefix"
  [[ $(alone "$prefix/bin/fathom" --version) == "fathom $version "* ]] || fail "no version $version"
  for suite in quick atlas gemm; do
    (cd "$work" &&
      alone "$prefix/bin/fathom" run --replay --no-report --suite $suite --out $suite) \
      >"$work/said" || fail "no replay: $(cat "$work/said")"
    cmp -s <(probes_of "$source/recordings/h200/${suite/quick/.}/result.json") \
      <(probes_of "$work/$suite/result.json") || fail "the replay of $suite is another recording"
  done
  [[ -e $prefix/share/fathom/schema.json ]] || fail "no schema"
  [[ -e $prefix/share/fathom/machine.schema.json ]] || fail "no schema of export machine"
  for page in $(pages); do
    [[ -s $prefix/share/man/man1/$page || -s $prefix/share/man/man1/$page.gz ]] ||
      fail "no man page $page"
  done
  [[ -d $prefix/libexec/fathom ]] || return 0 # a build without CUDA
  for program in "$prefix"/libexec/fathom/*; do
    [[ $program == */fathom-device ]] || alone "$program" --describe >/dev/null ||
      fail "$program does not describe itself"
  done
  for program in "$build"/bin/probe_* "$build"/bin/gemm_ladder "$build"/bin/fathom-device; do
    [[ -x $prefix/libexec/fathom/${program##*/} ]] || fail "${program##*/} is not installed"
  done
  [[ $(alone "$prefix/bin/fathom" list) == *tail_effect* ]] || fail "fathom finds no probes"
}

probes_of() { grep -o '"probe": *"[a-z_]*"' "$1" | tr -d ' ' | sort -u; }

# brings_libraries PREFIX: those beside the C library are found in the tree itself.
brings_libraries() {
  ldd "$1/bin/fathom" | grep -F libfmt | grep -qF "=> $1/" || fail "$1 lacks libfmt"
}

version=$(sed -n 's/^CMAKE_PROJECT_VERSION:STATIC=//p' "$build/CMakeCache.txt")
[[ -n $version ]] || fail "$build has no version"

case $case in
  moved)
    cmake --install "$build" --prefix "$work/first" >"$work/log" 2>&1 ||
      fail "$(tail -n 5 "$work/log")"
    mv "$work/first" "$work/moved here"
    if grep -rqF "$work/first" "$work/moved here"; then fail "it holds the path of its prefix"; fi
    works "$work/moved here"
    # Copied as scp does, which follows links.
    cp -rL "$work/moved here" "$work/copied" && rm -r "$work/moved here"
    works "$work/copied"
    brings_libraries "$work/copied"
    ;;
  packed)
    for program in cpack dpkg-deb dpkg-shlibdeps; do
      command -v $program >/dev/null || skip "there is no $program"
    done
    cpack --config "$build/CPackConfig.cmake" -B "$work" >"$work/log" 2>&1 ||
      fail "$(tail -n 5 "$work/log")"
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
    command -v mandoc >/dev/null || skip "there is no mandoc"
    complaints=$(cd "$build/share/man/man1" && mandoc -T lint ./*.1 || true)
    [[ -z $complaints ]] || fail "$complaints"
    ;;
  *) fail "there is no case '$case'" ;;
esac
