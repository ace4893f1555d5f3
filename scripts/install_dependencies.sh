#!/usr/bin/env bash
# Installs on Debian 12 what building and running tpack needs. Does nothing if all of it is installed.
#
#   scripts/install_dependencies.sh [--check]     --check: also what the checks and tests of check.sh need
set -euo pipefail

packages=(
  g++ cmake ninja-build ccache pkg-config
  libyaml-cpp-dev libcli11-dev libspdlog-dev nlohmann-json3-dev
  libhdf5-dev libdnnl-dev libhwy-dev libopencv-core-dev libopencv-imgproc-dev
  libjpeg-dev libpng-dev libgif-dev libtiff-dev libwebp-dev libpugixml-dev
  libdeflate-dev zlib1g-dev libzstd-dev libxxhash-dev libhwloc-dev libncurses-dev
  liblmdb-dev libzmq3-dev libisal-dev libmsgpack-cxx-dev libutf8proc-dev libre2-dev libprotobuf-dev protobuf-compiler libeigen3-dev libspectra-dev
  libopenmpi-dev openmpi-bin
)
# Machine code for sweeps; other processors compute them function by function.
if [ "$(dpkg --print-architecture)" = amd64 ]; then packages+=(libxbyak-dev); fi
for_checks=(
  git python3 python3-venv xz-utils
  clang clang-format clang-tidy libclang-rt-dev lld llvm
  libgtest-dev libgmock-dev
)
case "${1:-}" in
  "") ;;
  --check) packages+=("${for_checks[@]}") ;;
  *) echo "usage: scripts/install_dependencies.sh [--check]" >&2; exit 2 ;;
esac

missing=()
for package in "${packages[@]}"; do
  dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q 'install ok installed' || missing+=("$package")
done
if [ ${#missing[@]} -eq 0 ]; then exit 0; fi

echo "installing: ${missing[*]}" >&2
as_root=()
if [ "$(id -u)" -ne 0 ]; then as_root=(sudo); fi
export DEBIAN_FRONTEND=noninteractive
# Keeps neither the archives nor apt's indexes of the package lists: about 300 MB.
lean=(-qq -o APT::Keep-Downloaded-Packages=false -o Dir::Cache::pkgcache= -o Dir::Cache::srcpkgcache=)
"${as_root[@]}" apt-get update "${lean[@]}"
"${as_root[@]}" apt-get install "${lean[@]}" -y --no-install-recommends "${missing[@]}" >&2
