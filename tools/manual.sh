#!/usr/bin/env bash
# manual.sh FATHOM FOLDER DATE: writes the man pages of fathom's commands into FOLDER, from what
# their own help says. Part of the build. DATE is ISO 8601's.
set -euo pipefail
fathom=$1 folder=$2 date=$3
version=$("$fathom" --version)

# A help in roff: headings, what they list, examples as they are, and prose, a line for each word.
# shellcheck disable=SC2016  # awk's
to_roff='
  function text(roff) { return (roff ~ /^[.\047]/ ? "\\&" : "") roff }
  function prose(roff, words, count, i) {
    count = split(roff, words, " ")
    for (i = 1; i <= count; i++) print text(words[i])
  }
  { paragraph = after_empty; after_empty = /^$/ }
  after_empty { next }
  example && /^[^ ]/ { print ".EE"; example = 0; paragraph = 1 }
  /^Usage: / { print ".SH SYNOPSIS\n.B " substr($0, 8); next }
  /^[^ ].*:$/ {
    example = /^Example/
    print ".SH " toupper(substr($0, 1, length($0) - 1)) (example ? "\n.EX" : "")
    next
  }
  example { print text(substr($0, 3)); next }
  /^  [^ ]/ {
    end = index(substr($0, 3) "  ", "  ")
    print ".TP\n.B " substr($0, 3, end - 1)
    prose(substr($0, end + 2))
    next
  }
  { if (paragraph) print ".PP"; prose($0) }
  END { if (example) print ".EE" }'

# write_pages [COMMAND...]: the pages of the commands below it, then its own.
write_pages() {
  local below page name offered
  # A build without CUDA does not have it.
  if [[ ${1-} == explain && ! -x ${fathom%/*}/fathom-explain ]]; then return; fi
  # Only commands are offered with what they mean.
  offered=$("$fathom" --complete "$@" '')
  for below in $(sed -n 's/\t..*//p' <<<"$offered"); do
    write_pages "$@" "$below"
  done
  page=fathom${1+-}$(IFS=- && echo "$*")
  name=${page//-/\\-}
  {
    printf '.TH %s 1 %s "%s" "User Commands"\n.SH NAME\n%s \\-\n' "${name^^}" "$date" \
      "${version% (*}" "$name"
    "$fathom" "$@" --help | sed 's/\\/\\e/g; s/-/\\-/g' | awk "$to_roff"
  } >"$folder/$page.1"
}

mkdir -p "$folder"
rm -f "$folder"/fathom*.1
write_pages
