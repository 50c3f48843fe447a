# fish completion of fathom: asks the program what may stand at the cursor
function __fish_fathom
  set -l words (commandline -opc)
  set -l current (commandline -ct)
  set -l offered ($words[1] --complete $words[2..-1] "$current" 2>/dev/null)
  if test -n "$offered"
    printf '%s\n' $offered
  else
    __fish_complete_path "$current"
  end
end
complete -c fathom -f -a '(__fish_fathom)'
