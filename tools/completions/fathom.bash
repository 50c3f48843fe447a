# bash completion of fathom: asks the program what may stand at the cursor
_fathom() {
  mapfile -t COMPREPLY < <("${COMP_WORDS[0]}" --complete "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
  COMPREPLY=("${COMPREPLY[@]%%$'\t'*}")
}
complete -o default -F _fathom fathom # files where nothing is offered
