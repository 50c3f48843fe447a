# fish completion of fathom: asks the program what may stand at the cursor
function __fish_fathom
  set -l words (commandline -opc)
  set -l current (commandline -ct)
  set -l offered ($words[1] --complete $words[2..-1] "$current" 2>/dev/null)
  switch "$offered[1]"
    case :files
      __fish_complete_path "$current"
    case :folders
      __fish_complete_directories "$current"
    case '*'
      printf '%s\n' $offered
  end
end
complete -c fathom -f -a '(__fish_fathom)'
