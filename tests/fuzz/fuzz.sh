#!/usr/bin/env bash
# Fuzzes the gate's readers under the address and undefined-behaviour sanitizers, with libFuzzer:
#   tests/fuzz/fuzz.sh BUILD_FOLDER [SECONDS]
# Starts from the corpus beside this script. What it finds new stays in BUILD_FOLDER/fuzz/corpus;
# an input that fails is written to BUILD_FOLDER/fuzz, and belongs into the corpus once it is fixed.
set -euo pipefail

here=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")
root=$(dirname "$(dirname "$here")")
build=$(realpath "${1:?give the build folder}")
seconds=${2:-3600}
compiler=${CLANG:-clang++}
echo 'extern "C" int LLVMFuzzerTestOneInput() { return 0; }' |
  "$compiler" -fsanitize=fuzzer,address,undefined -x c++ - -o /dev/null ||
  { echo "fuzz.sh: $compiler links no fuzzer: install clang and libclang-rt-dev" >&2; exit 2; }

mkdir -p "$build/fuzz/objects" "$build/fuzz/corpus"
sources=("$here"/gate_fuzz.cpp "$here"/fuzz_main.cpp)
for name in annotations baseline_format decision decision_json evidence history identity json_fields \
  junit log_text parse_fathom parse_google_benchmark physics rank_statistics rules run_metrics stored summary \
  verdicts; do
  sources+=("$root/reports/gate/$name.cpp")
done
# history.cpp's text is in the page's file, which draws as well: its pictures stay out.
sources+=("$root/reports/gate/history_text.cpp" "$root/reports/markdown.cpp")
for name in atomic_file clean_text distributions format names partition query segmentation statistics strict_json suggestion utc_time; do
  sources+=("$root/results/$name.cpp")
done
# shellcheck disable=SC2054  # the commas are the compiler's
flags=(-std=c++20 -O1 -g -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=undefined
  -I"$root" -I"$here")
objects=()
for source in "${sources[@]}"; do
  object=$build/fuzz/objects/$(basename "${source%.cpp}").o
  objects+=("$object")
  # Any header may have changed what the object has in it.
  if [[ ! -e $object || $source -nt $object ]] ||
    [[ -n $(find "$root"/{models,reports,results,tests/fuzz} -name '*.h' -newer "$object" -print -quit) ]]; then
    "$compiler" "${flags[@]}" -c "$source" -o "$object"
  fi
done
"$compiler" -fsanitize=fuzzer,address,undefined "${objects[@]}" -lfmt -lsimdjson \
  -o "$build/fuzz/gate_fuzz"
exec "$build/fuzz/gate_fuzz" "$build/fuzz/corpus" "$here/corpus" -max_total_time="$seconds" \
  -max_len=65536 -timeout=20 -rss_limit_mb=2048 -dict="$here/gate.dict" -print_final_stats=1 \
  -artifact_prefix="$build/fuzz/"
