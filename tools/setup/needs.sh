# shellcheck shell=bash disable=SC2154  # variables are shared with the entry script
# What is there of what cmake/dependencies.txt lists, and which CUDA toolkit. Looks at files and
# versions, not at names of packages, so that something installed by hand counts as well.

declare -gA level=([host]=0 [cuda]=1 [gate]=2 [tests]=2 [all]=3)
# needed_by KIND: whether this command needs what that kind does. The tests have the gate's as well.
# Those that need a GPU are built where there is one, and with --all.
needed_by() {
  local tier=$1
  case $tier in
    gate) if [[ -n $gate ]]; then return; fi ;;
    wheels) if ((${#wheels[@]})); then return; else return 1; fi ;;
    gpu_tests) if has_gpu; then tier=tests; else tier=all; fi ;;
    explain) if [[ $command == explain ]]; then tier=cuda; else tier=tests; fi ;;
  esac
  ((level[$tier] <= level[$kind]))
}

# at_least OLDEST VERSION
at_least() { [[ -n $2 ]] && printf '%s\n%s\n' "$1" "$2" | sort -VC; }
version_of() { "$@" 2>/dev/null </dev/null | grep -oE '[0-9]+(\.[0-9]+)*' | head -n 1; }
has_program() { PATH=$PATH:/usr/sbin command -v "$1" >/dev/null; }
has_compiler() { has_program "${compiler%% *}"; }
can_link_fuzzer() {
  clang++ -fsanitize=fuzzer,address,undefined -x c++ - -o /dev/null 2>/dev/null \
    <<<'extern "C" int LLVMFuzzerTestOneInput() { return 0; }'
}
has_pip() { python3 -m pip --version &>/dev/null; }
can_have_pip() { has_pip || python3 -c 'import ensurepip, venv' 2>/dev/null; }

# Nothing is installed over a compiler or a CMake that is there: which to use is the user's choice.
refuse_too_old() {
  local version
  # shellcheck disable=SC2086  # CXX may have flags in it
  version=$(version_of $compiler -dumpversion)
  if [[ -n ${CXX-} ]] || has_compiler && ! at_least 12 "$version"; then
    give_up "the compiler $compiler is version ${version:-unknown}, and Fathom needs 12 or newer:" \
      "install one and name it, as in CXX=g++-12 ./fathom $command"
  fi
  version=$(version_of cmake --version)
  if has_program cmake && ! at_least 3.24 "$version"; then
    give_up "cmake is version ${version:-unknown}, and Fathom needs 3.24 or newer: put such a one" \
      "first on the PATH ('python3 -m pip install cmake' has it)"
  fi
}

# is_there HOW: a function of this file, a module of Python, a header, or a program of several.
is_there() {
  local name folder folders
  case $1 in
    *'()') "${1%??}" && return ;;
    import:*) /usr/bin/python3 -c "import ${1#*:}" 2>/dev/null && return ;;
    *.h | *.hpp)
      IFS=: read -ra folders <<<"/usr/include:/usr/local/include:${CPATH-}:${CMAKE_PREFIX_PATH-}"
      for folder in "${folders[@]}"; do
        if [[ -e $folder/$1 || -e $folder/include/$1 ]]; then return; fi
      done
      ;;
    *)
      for name in ${1//,/ }; do
        if has_program "$name"; then return; fi
      done
      ;;
  esac
  return 1
}

# A mark with the checksum of the requirements says what <build>/toolkit holds.
mark_of() {
  echo "$build/toolkit/.$1-$(cksum <"$root/tools/setup/requirements/$1.txt" | tr ' ' -)"
}
# has_wheels NAME PROGRAMS: whether they were fetched, or the machine's toolkit has the programs.
has_wheels() {
  local name
  if [[ -e $(mark_of "$1") ]]; then return; fi
  if [[ $toolkit == "$build/toolkit" ]]; then return 1; fi
  for name in ${2//,/ }; do
    if [[ ! -x $toolkit/bin/$name ]]; then return 1; fi
  done
}

# Fills missing[] with names of packages, wheels[] with those of sets of wheels for <build>/toolkit,
# and reasons[] with what each is for.
find_missing() {
  local name needed found why
  declare -gA reasons=()
  missing=() wheels=()
  while read -r name needed found why; do
    if ! needed_by "$needed"; then continue; fi
    reasons[${name#+}]=$why
    if [[ $name == +* ]]; then
      has_wheels "${name#+}" "$found" || wheels+=("${name#+}")
    else
      is_there "$found" || missing+=("$name")
    fi
  done < <(grep '^[a-z+]' "$root/cmake/dependencies.txt")
}

list_missing() {
  local name
  say "Missing on this machine for 'fathom $command':"
  for name in "${missing[@]}" "${wheels[@]}"; do
    printf '  %-20s %s\n' "$name" "${reasons[$name]}" >&2
  done
}

# complete_toolkit DIR: of version 12.8 or newer, with the runtime's, CUPTI's and CUB's headers.
# Sets release, since nvcc's banner has years before its "release 13.0, V13.0.88".
complete_toolkit() {
  release=$("$1/bin/nvcc" --version 2>/dev/null | sed -nE 's/.*release ([0-9.]+),.*/\1/p')
  at_least 12.8 "$release" && [[ -e $1/include/cuda_runtime.h ]] &&
    [[ -e $1/include/cub/version.cuh || -e $1/include/cccl/cub/version.cuh ]] &&
    [[ -e $1/include/cupti_range_profiler.h || -e $1/extras/CUPTI/include/cupti_range_profiler.h ]]
}

# Sets toolkit to the folder of the machine's own toolkit, or to <build>/toolkit.
find_toolkit() {
  local folder nvcc release
  toolkit=''
  if ! needed_by cuda; then return; fi
  toolkit=$build/toolkit
  if [[ ${FATHOM_TOOLKIT-} == wheels ]]; then return; fi
  nvcc=$(readlink -f "$(command -v nvcc)")
  for folder in "${CUDA_HOME-}" "${nvcc%/bin/nvcc}" /usr/local/cuda; do
    if [[ -z $folder ]]; then continue; fi
    if complete_toolkit "$folder"; then toolkit=$folder && return; fi
    # The one that the user named is not passed over in silence.
    if [[ $folder == "${CUDA_HOME-}" ]]; then
      give_up "the CUDA toolkit in CUDA_HOME=$folder is version ${release:-unknown}," \
        "and Fathom needs 12.8 or newer with CUPTI and CUB: name another, or set" \
        "FATHOM_TOOLKIT=wheels, which fetches one"
    fi
  done
}

# Before the lock, and after another call that held it and may have installed something.
look_around() {
  refuse_too_old
  find_toolkit
  find_missing
}
