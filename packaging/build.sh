#!/usr/bin/env bash
# Builds Fathom and installs it into a prefix: the one script behind Dockerfile, fathom.def and
# spack/package.py.
#
#   packaging/build.sh [--packages] PREFIX [CMAKE ARGUMENT...]
#
# --packages installs what it is built from with apt-get, as root on Debian or Ubuntu. Kernels are
# compiled for every architecture; -DFATHOM_ARCHITECTURES='80;90a' picks some, and -DFATHOM_CUDA=OFF
# builds what needs no GPU, without CUDA.
set -euo pipefail
source=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

packages=no
if [[ ${1-} == --packages ]]; then packages=yes && shift; fi
if [[ ${1-} != /* ]]; then
  echo "usage: packaging/build.sh [--packages] /PREFIX [CMAKE ARGUMENT...]" >&2
  exit 2
fi
prefix=$1
shift

# One list for the set-up, CMake and this: a line is a package and what needs it.
if [[ $packages == yes ]]; then
  needs='host|gate|cuda'
  if [[ " $* " == *" -DFATHOM_CUDA=OFF "* ]]; then needs='host|gate'; fi
  # No process substitution: a bare chroot has no /dev/fd.
  mapfile -t wanted <<<"$(awk -v needs="^($needs)\$" '/^[a-z]/ && $2 ~ needs { print $1 }' \
    "$source/cmake/dependencies.txt")"
  export DEBIAN_FRONTEND=noninteractive
  apt-get update -q
  apt-get install -y -q --no-install-recommends "${wanted[@]}"
fi

build=$(mktemp -d "${TMPDIR:-/tmp}/fathom-build.XXXXXX")
trap 'rm -rf "$build"' EXIT
cmake -S "$source" -B "$build" -G Ninja -DFATHOM_TESTS=OFF -DFATHOM_ARCHITECTURES=all \
  -DCMAKE_INSTALL_PREFIX="$prefix" "$@"
cmake --build "$build" --parallel "$(nproc)"
cmake --install "$build" --strip
