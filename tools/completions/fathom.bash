# bash completion of fathom: asks the program what may stand at the cursor
_fathom() {
  local current=${COMP_WORDS[COMP_CWORD]} offered
  if [[ $current == = ]]; then current=''; fi # bash splits --flag=value into three words
  mapfile -t offered < <("${COMP_WORDS[0]}" --complete "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
  case ${offered[0]-} in
    :files | :folders)
      compopt -o filenames 2>/dev/null
      if [[ ${offered[0]} == :files ]]; then
        mapfile -t COMPREPLY < <(compgen -f -- "$current")
      else
        mapfile -t COMPREPLY < <(compgen -d -- "$current")
      fi
      ;;
    *) COMPREPLY=("${offered[@]%%$'\t'*}") ;;
  esac
}
complete -F _fathom fathom
