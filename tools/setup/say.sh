# shellcheck shell=bash disable=SC2154  # variables are shared with the entry script
# What the set-up says, on standard error, so that the output of a command stays its own.

# The rows of results/error.h that the set-up can end with.
# shellcheck disable=SC2034  # used by the other parts
readonly CHECK_FAILED=1 BAD_INPUT=2 OUTPUT_UNWRITABLE=10
readonly NO_DRIVER=14 SETUP_INCOMPLETE=23 INTERRUPTED=130

bold='' red='' plain=''
if [[ -t 2 && -z ${NO_COLOR-} && ${TERM-dumb} != dumb ]]; then
  bold=$'\e[1m' red=$'\e[31m' plain=$'\e[0m'
fi

say() { printf '%s\n' "${bold}fathom:${plain} $*" >&2; }

# fail CODE SENTENCE: ends with the exit code.
fail() {
  clear_progress
  say "$red$2$plain"
  exit "$1"
}

# give_up SENTENCE..., joined by spaces.
give_up() { fail "$SETUP_INCOMPLETE" "$*"; }

# give_up_with_log SENTENCE...: the end of the log first, since it has the reason.
give_up_with_log() {
  clear_progress
  {
    printf '%s\n' "--- the last lines of $log"
    tail -n 25 "$log" | cut -c 1-300
    printf '%s\n' "---"
  } >&2
  give_up "$@"
}

# logged TITLE COMMAND...: runs the command with its output in the log. On a terminal a line shows
# meanwhile how long it has taken and what it last wrote.
logged() {
  local title=$1 status
  shift
  printf '\n== %s\n+ %s\n' "$title" "$*" >>"$log"
  # The clock is what runs in the background, so that Ctrl-C reaches the command. It does not hold
  # the lock of the set-up.
  if [[ -t 2 ]]; then show_clock "$title" {lock}>&- >/dev/null & ticker=$!; fi
  "$@" >>"$log" 2>&1
  status=$?
  clear_progress
  return $status
}

clear_progress() {
  if [[ -z ${ticker-} ]]; then return; fi
  kill "$ticker" 2>/dev/null && wait "$ticker" 2>/dev/null
  ticker=''
  printf '\r\e[K' >&2
}

# What is left of a build, by ninja's "[12/345] ..." or make's "[ 12%] ...".
show_clock() {
  local start=$SECONDS line text done=0 total left
  while sleep 0.5 2>/dev/null && kill -0 $$ 2>/dev/null; do
    line=$(tail -n 1 "$log" | tr -cd '[:print:]')
    if [[ $line =~ ^\[\ *([0-9]+)(/([0-9]+)|%)\] ]]; then
      done=${BASH_REMATCH[1]} total=${BASH_REMATCH[3]:-100}
    fi
    text="$1, $((SECONDS - start)) s: $line"
    if ((done > 0)); then
      left=$(((SECONDS - start) * (total - done) / done))
      text="$1 $done of $total, about $((left / 60 + 1)) min left"
    fi
    printf '\r\e[K%s' "${text:0:${COLUMNS:-80}-1}" >&2
  done
}
