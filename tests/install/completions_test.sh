#!/usr/bin/env bash
# Tests of the completions: completions_test.sh SHELL BIN. Asks a real shell what it would offer.
# Exit code 77: skipped, with the reason.
set -euo pipefail
shell=$1 scripts=$(realpath "$(dirname "$0")/../../tools/completions")
PATH=$(realpath "$2"):$PATH
command -v "$shell" >/dev/null || { echo "SKIPPED: there is no $shell" >&2; exit 77; }
failed=0

# offers LINE WORD...: these words are among what is offered at the end of the line.
offers() {
  local line=$1 word offered
  offered=$("offered_by_$shell" "$line")
  shift
  for word; do
    if ! grep -qxF -e "$word" <<<"$offered"; then
      echo "FAILED: $shell does not offer '$word' after '$line', but: ${offered//$'\n'/ }" >&2
      failed=1
    fi
  done
}

# only LINE WORD...: exactly these.
only() {
  local line=$1 offered
  offered=$("offered_by_$shell" "$line" | sort)
  shift
  if [[ $offered != "$(printf '%s\n' "$@" | sort)" ]]; then
    echo "FAILED: $shell offers after '$line': ${offered//$'\n'/ }; wanted: $*" >&2
    failed=1
  fi
}

offered_by_bash() {
  bash --norc -c '
    source "$1"
    [[ $(complete -p fathom) == *_fathom* ]] || exit 1
    read -ra COMP_WORDS <<<"${2//=/ = }"
    [[ $2 != *" " ]] || COMP_WORDS+=("")
    COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
    _fathom
    printf "%s\n" "${COMPREPLY[@]}"' - "$scripts/fathom.bash" "$1"
}

offered_by_fish() {
  fish --no-config -c '
    source $argv[1]
    complete -C $argv[2]' "$scripts/fathom.fish" "$1" | cut -f 1
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
    print -r -- "$out"' - "$scripts" "$1" |
    tr -d '\r' | sed -n 's/.*offer:\(..*\)/\1/p' | sort -u
}

offers "fathom " run list doctor report compare export recording predict check baseline \
  history fleet
offers "fathom run --" --suite --out --require-gpu --help
only "fathom run --suite " quick default atlas atlas-quick gemm gemm-quick
only "fathom run --suite at" atlas atlas-quick
only "fathom predict sh" shared
offers "fathom predict shared " load store
offers "fathom predict shared --" --stride
only "fathom fleet c" collect
[[ $shell != bash ]] || only "fathom run --suite=gem" gemm gemm-quick
exit $failed
