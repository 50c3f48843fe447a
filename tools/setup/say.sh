# shellcheck shell=bash disable=SC2154  # variables are shared with the entry script
# What the set-up says: plain lines on standard error, so that the output of a command stays its own,
# and on a terminal one line of progress that is written over.

# The rows of results/exit_codes.h that the set-up can end with.
# shellcheck disable=SC2034  # used by the other parts
readonly CHECK_FAILED=1 BAD_INPUT=2 OUTPUT_UNWRITABLE=10 SETUP_INCOMPLETE=23 INTERRUPTED=130

bold='' red='' plain=''
if [[ -t 2 && -z ${NO_COLOR-} && ${TERM-dumb} != dumb ]]; then
  bold=$'\e[1m' red=$'\e[31m' plain=$'\e[0m'
fi

say() { printf '%s\n' "${bold}fathom:${plain} $*" >&2; }

# fail CODE SENTENCE: ends with the exit code.
fail() {
  clear_progress
  printf '%s\n' "${bold}fathom:${plain} ${red}$2${plain}" >&2
  exit "$1"
}

progress() { if [[ -t 2 ]]; then printf '\r\e[K%s' "$*" >&2; fi; }
clear_progress() {
  if [[ -n ${ticker-} ]]; then kill "$ticker" 2>/dev/null && wait "$ticker" 2>/dev/null; fi
  ticker=''
  if [[ -t 2 ]]; then printf '\r\e[K' >&2; fi
}

# "75" -> "1 min 15 s"
duration() {
  if (($1 < 60)); then printf '%d s' "$1"; else printf '%d min %d s' $(($1 / 60)) $(($1 % 60)); fi
}

# logged TITLE ESTIMATE COMMAND...: runs the command with its output in the log. On a terminal it
# shows how long that has taken, beside about how many seconds it takes.
logged() {
  local title=$1 estimate=$2 status
  shift 2
  printf '\n== %s\n+ %s\n' "$title" "$*" >>"$log"
  # The clock is what runs in the background, so that Ctrl-C reaches the command.
  if [[ -t 2 ]]; then show_clock "$title" "$estimate" & ticker=$!; fi
  "$@" >>"$log" 2>&1
  status=$?
  clear_progress
  return $status
}

show_clock() {
  local start=$SECONDS
  while kill -0 $$ 2>/dev/null; do
    progress "$1: $(duration $((SECONDS - start))) of about $(duration "$2")"
    sleep 0.5
  done
}

# fail_with_log CODE SENTENCE: the end of the log first, since it has the reason.
fail_with_log() {
  clear_progress
  printf '%s\n' "--- the last lines of $log" >&2
  tail -n 25 "$log" | cut -c 1-300 >&2
  printf '%s\n' "---" >&2
  fail "$1" "$2"
}
