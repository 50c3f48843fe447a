#!/usr/bin/env bash
# Where a machine has none of the libraries in cmake/dependencies.txt, CMake fetches each from the
# repository and at the commit that stand there. Here empty folders stand for what is fetched.
#   fetched_test.sh SOURCE_FOLDER
set -euo pipefail

root=$(realpath "$1")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
mkdir "$folder/empty"
touch "$folder/empty/CMakeLists.txt"
cat >"$folder/CMakeLists.txt" <<EOF
cmake_minimum_required(VERSION 3.24)
project(fetched LANGUAGES NONE)
include($root/cmake/Dependencies.cmake)
EOF
flags=(-DFATHOM_CUDA=ON -DFATHOM_GATE=ON -DFATHOM_TESTS=ON -DCMAKE_FIND_ROOT_PATH="$folder/empty"
  -DCMAKE_FIND_ROOT_PATH_MODE_INCLUDE=ONLY -DCMAKE_FIND_ROOT_PATH_MODE_PACKAGE=ONLY)
while read -r name _; do
  flags+=("-DFETCHCONTENT_SOURCE_DIR_${name^^}=$folder/empty")
done < <(grep '^  [A-Za-z]' "$root/cmake/dependencies.txt")
cmake -S "$folder" -B "$folder/build" "${flags[@]}" >"$folder/log" 2>&1 ||
  { cat "$folder/log"; exit 1; }

libraries=0
while read -r name _ repository commit _; do
  grep -qxF -- "-- $name: fetched from $repository at $commit" "$folder/log" ||
    { echo "$name is not fetched from $repository at $commit:"; cat "$folder/log"; exit 1; }
  [[ $repository =~ ^https://.*\.git$ && $commit =~ ^[0-9a-f]{40}$ ]] ||
    { echo "$name: $repository at $commit is no repository or no commit"; exit 1; }
  libraries=$((libraries + 1))
done < <(grep '^  [A-Za-z]' "$root/cmake/dependencies.txt")
((libraries >= 10)) || { echo "the list has only $libraries libraries"; exit 1; }
