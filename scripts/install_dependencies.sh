#!/usr/bin/env bash
# Installs what building and testing tpack needs on Debian 12. Does nothing where all of it is there.
set -euo pipefail

packages=(
  g++ cmake ninja-build ccache pkg-config git python3 python3-venv xz-utils
  clang clang-format clang-tidy libclang-rt-dev llvm
  libyaml-cpp-dev libcli11-dev libspdlog-dev nlohmann-json3-dev
  libhdf5-dev libdnnl-dev libhwy-dev libopencv-core-dev libopencv-imgproc-dev
  libjpeg-dev libpng-dev libdeflate-dev libxxhash-dev libhwloc-dev
  libopenmpi-dev openmpi-bin libgtest-dev libgmock-dev
)

missing=()
for package in "${packages[@]}"; do
  dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q 'install ok installed' || missing+=("$package")
done
if [ ${#missing[@]} -eq 0 ]; then exit 0; fi

echo "installing: ${missing[*]}" >&2
as_root=()
if [ "$(id -u)" -ne 0 ]; then as_root=(sudo); fi
export DEBIAN_FRONTEND=noninteractive
"${as_root[@]}" apt-get update -qq
"${as_root[@]}" apt-get install -y -qq --no-install-recommends "${missing[@]}" >&2
