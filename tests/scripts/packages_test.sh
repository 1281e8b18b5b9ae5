#!/usr/bin/env bash
# Tests scripts/install-packages, scripts/package-names and the search for libraries in CMake on
# machines that are played by a folder of programs: without apt, without sudo, with everything
# installed. Usage: packages_test.sh SOURCE_FOLDER
set -euo pipefail
source_folder=$1
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
machine=$scratch/bin
failures=0

# A machine that has only the given programs beside the shell's own tools.
new_machine() {
  rm -rf "$machine"
  mkdir -p "$machine"
  local tool
  for tool in bash env dirname sed tr grep cat id; do ln -s "$(command -v $tool)" "$machine/$tool"; done
  for tool in "$@"; do play "$tool" 'exit 0'; done
}

# Makes the program NAME of the machine, with the given lines of a shell script.
play() {
  rm -f "$machine/$1"
  printf '#!/bin/bash\n%s\n' "$2" >"$machine/$1"
  chmod +x "$machine/$1"
}

# Runs a script of the source tree on the machine; `status` and `output` are what it left.
on_machine() {
  status=0
  output=$(env -i PATH="$machine" "${environment[@]}" "$source_folder/scripts/$1" "${@:2}" 2>&1) || status=$?
}

distribution() {
  printf '%s\n' "$@" >"$scratch/os-release"
  environment=(ATTNSCOPE_OS_RELEASE="$scratch/os-release")
}

expect() {
  if ! eval "$2"; then
    echo "failed: $1"
    printf 'status %s, output:\n%s\n\n' "$status" "$output"
    failures=$((failures + 1))
  fi
}

says() { grep -qF -- "$1" <<<"$output"; }

# --- without apt ------------------------------------------------------------------------------

distribution 'ID=fedora'
new_machine c++ cmake ninja pkg-config
on_machine install-packages build test
expect "a machine without apt and with all tools goes on in silence" '[ $status = 0 ] && [ -z "$output" ]'

new_machine c++ cmake
on_machine install-packages build
expect "missing tools end the run" '[ $status = 1 ]'
expect "missing tools are named as Fedora calls them" 'says "Ninja (from 1.11): ninja-build" && says pkgconf-pkg-config'
expect "tools that are there are not named as missing" '! says "CMake (from"'
expect "the command installs everything" 'says "dnf install gcc-c++ cmake" && says qcustomplot-qt6-devel'
expect "no sudo is tried" '! says "sudo"'

distribution 'ID=manjaro' 'ID_LIKE=arch'
on_machine package-names Highway Spectra
expect "a distribution made of another has its names" 'says "pacman -S --needed highway"'
expect "what the command cannot install is left out of it" 'says "aur:spectra" && ! says "highway aur"'

distribution 'ID=nixos'
on_machine package-names --command OpenBLAS LAPACKE
expect "a package of two libraries is named once" '[ "$output" = "  nix-shell -p openblas" ]'

distribution 'ID=fedora'
environment+=(CONDA_PREFIX=/opt/conda)
on_machine package-names "Dear ImGui"
expect "an active conda environment decides the names" 'says "conda install -c conda-forge imgui"'

distribution 'ID=unheard-of'
on_machine package-names zlib
expect "an unknown distribution gets the names of Debian" 'says zlib1g-dev && says "this distribution is unknown"'

# --- Debian without the right to install --------------------------------------------------------

distribution 'ID=debian'
all=$(sed -n 's/^\(build\|test\): *//p' "$source_folder/scripts/packages" | tr ' ' '\n')
as_installed() { sed 's/^/installed /; s/$/, /'; }
new_machine
play apt-get 'echo "apt-get was called: $*"; exit 9'
play id 'echo 1000'
# libqt6opengl6-dev is there only as a part of another package, as on Debian 13.
play dpkg-query "echo '$(grep -v libqt6opengl6-dev <<<"$all" | as_installed)'
echo 'installed qt6-base-dev, libqt6opengl6-dev (= 6.8.2), libqt6other (= 1)'"
on_machine install-packages build test
expect "where everything is installed neither apt nor sudo is needed" '[ $status = 0 ] && [ -z "$output" ]'

play dpkg-query "echo '$(grep -v -e libhwy-dev -e xvfb <<<"$all" | as_installed)'"
on_machine install-packages build test
expect "a user without sudo is told what the administrator types" \
  '[ $status = 1 ] && says "apt-get install --no-install-recommends libhwy-dev xvfb"'
expect "without sudo nothing is tried" '! says "was called" && ! says "command not found"'

play sudo 'echo "user is not in the sudoers file" >&2; exit 1'
on_machine install-packages build
expect "a refusal by sudo is followed by the line for the administrator" \
  '[ $status = 1 ] && says "not in the sudoers file" && says "apt-get install --no-install-recommends libhwy-dev"'

for tool in c++ cmake ninja pkg-config; do play $tool 'exit 0'; done
environment+=(ATTNSCOPE_INSTALL=OFF)
on_machine install-packages build
expect "ATTNSCOPE_INSTALL=OFF installs nothing" '[ $status = 0 ] && [ -z "$output" ]'

# --- installing -----------------------------------------------------------------------------------

distribution 'ID=debian'
play id 'echo 0'
play apt-get 'case "$*" in
  *update*) exit 0 ;;
  *--no-install-recommends\ libhwy-dev*) ;;
  *APT::Status-Fd=1*\ libhwy-dev) ;;
  *) exit 9 ;;
esac
echo "Reading package lists..."
echo "dlstatus:1:0.0000:Retrieving file 1 of 2"
echo "dlstatus:2:50.5000:Retrieving file 2 of 2"
echo "pmstatus:libhwy1:25.0000:Installing libhwy1 (amd64)"
echo "pmstatus:libhwy-dev:75.0000:Installed libhwy-dev (amd64)"'
on_machine install-packages build
expect "a log has lines of progress and not what apt prints" \
  '[ $status = 0 ] && says "downloading: 50 %" && says "installing: 25 %" && says "installing: 75 %" && ! says Reading'
play apt-get 'case "$*" in *update*) exit 0 ;; *) exit 100 ;; esac'
on_machine install-packages build
expect "a failure of apt is a failure" '[ $status = 1 ] && says "could not be installed"'

# --- CMake names what is missing --------------------------------------------------------------------

if [ -n "${CMAKE_COMMAND:-}" ]; then
  distribution 'ID=fedora'
  status=0
  output=$(env "${environment[@]}" "$CMAKE_COMMAND" -S "$source_folder" -B "$scratch/build" -G Ninja \
    -DCMAKE_DISABLE_FIND_PACKAGE_TBB=ON -DCMAKE_DISABLE_FIND_PACKAGE_nlohmann_json=ON 2>&1) || status=$?
  expect "all missing libraries are named at once with their packages" \
    '[ $status = 1 ] && says "oneTBB (from 2021.8): tbb-devel" && says "nlohmann-json (from 3.11): json-devel"'
  expect "the command installs what is missing" 'says "dnf install tbb-devel json-devel" || says "dnf install json-devel tbb-devel"'
fi

[ $failures -eq 0 ] || exit 1
echo "all passed"
