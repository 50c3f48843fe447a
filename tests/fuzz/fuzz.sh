#!/usr/bin/env bash
# Fuzzes what reads files from outside, under the address and undefined-behaviour sanitizers, with
# libFuzzer:
#   tests/fuzz/fuzz.sh BUILD_FOLDER [SECONDS] [gate|page]
# gate: the gate's readers, decisions and outputs. page: a document or a fleet's summaries, to the
# pages made of them. Starts from the corpus beside this script (corpus/, pages/). What it finds new
# stays in BUILD_FOLDER/fuzz/<target>; an input that fails is written there, and belongs into the
# corpus once it is fixed. Compiles with as many processes as there are processors, or FUZZ_JOBS.
set -euo pipefail

here=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")
root=$(dirname "$(dirname "$here")")
build=$(realpath "${1:?give the build folder}")
seconds=${2:-3600}
target=${3:-gate}
compiler=${CLANG:-clang++}
echo 'extern "C" int LLVMFuzzerTestOneInput() { return 0; }' |
  "$compiler" -fsanitize=fuzzer,address,undefined -x c++ - -o /dev/null ||
  { echo "fuzz.sh: $compiler links no fuzzer: install clang and libclang-rt-dev" >&2; exit 2; }

sources=()
add() { # FOLDER NAME...
  local name
  for name in "${@:2}"; do sources+=("$root/$1/$name.cpp"); done
}
add results document_io files statistics text
case $target in
  gate)
    seeds=$here/corpus
    add tests/fuzz gate_fuzz
    add gate baseline decision history outputs parse_other_tools ranks rules run_metrics stored
    add reports markdown
    add results segmentation
    ;;
  page)
    seeds=$here/pages
    add tests/fuzz page_fuzz
    add results figures findings
    add models gpu_table published roofline
    sources+=("$build/generated/version.cpp")
    add tools child_process programs
    for source in "$root"/reports/*.cpp "$root"/fleet/*.cpp; do
      [[ $source == */fleet/main.cpp ]] || sources+=("$source")
    done
    ;;
  *)
    echo "fuzz.sh: there is no target $target: gate or page" >&2
    exit 2
    ;;
esac

own=$build/fuzz/$target
mkdir -p "$build/fuzz/objects" "$own/corpus"
# shellcheck disable=SC2054  # the commas are the compiler's
flags=(-std=c++20 -O1 -gline-tables-only -fsanitize=fuzzer-no-link,address,undefined
  -fno-sanitize-recover=undefined -I"$root" -I"$build" -I"$here")
objects=()
stale=()
for source in "${sources[@]}"; do
  object=$build/fuzz/objects/$(basename "$(dirname "$source")")-$(basename "${source%.cpp}").o
  objects+=("$object")
  # Any header may have changed what the object has in it.
  if [[ ! -e $object || $source -nt $object ]] ||
    [[ -n $(find "$root"/{fleet,gate,models,reports,results,tests/fuzz,tools} -name '*.h' \
      -newer "$object" -print -quit) ]]; then
    stale+=(-c "$source" -o "$object")
  fi
done
if ((${#stale[@]})); then
  printf '%s\0' "${stale[@]}" | xargs -0 -n 4 -P "${FUZZ_JOBS:-$(nproc)}" \
    "$compiler" "${flags[@]}"
fi
"$compiler" -fsanitize=fuzzer,address,undefined "${objects[@]}" -lfmt -lsimdjson -lz -o "$own/fuzz"
exec "$own/fuzz" "$own/corpus" "$seeds" -max_total_time="$seconds" -max_len=65536 -timeout=20 \
  -rss_limit_mb=2048 -dict="$here/$target.dict" -print_final_stats=1 -artifact_prefix="$own/"
