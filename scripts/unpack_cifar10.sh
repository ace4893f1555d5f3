#!/usr/bin/env bash
# Unpacks CIFAR-10 as JPEGs (train/CLASS/*.jpg, test/CLASS/*.jpg) for configs/cifar-resnet.yaml.
#
#   scripts/unpack_cifar10.sh [ARCHIVE [FOLDER]]     default: $TPACK_DATASET/cifar10-jpg.tar.xz to data/cifar10
set -euo pipefail

# What the caller names is looked for where the caller is; the defaults lie beside and in the repository.
repository=$(realpath "$(dirname "$0")/..")
archive=${1:-${TPACK_DATASET:-$repository/../shared/datasets}/cifar10-jpg.tar.xz}
folder=${2:-$repository/data/cifar10}
if [ ! -f "$archive" ]; then echo "error: no archive '$archive'; name it, or set TPACK_DATASET to its folder" >&2; exit 3; fi
if [ -e "$folder" ]; then echo "$folder is there already"; exit 0; fi

# Whole or not at all.
mkdir -p "$(dirname "$folder")"
work=$(mktemp -d "$folder.XXXXXX")
trap 'rm -rf "$work"' EXIT
tar -xJf "$archive" -C "$work" --no-same-owner
train=$(find "$work" -maxdepth 3 -type d -name train -print -quit)
inside=${train%/train}
if [ ! -d "$train" ] || [ ! -d "$inside/test" ]; then echo "error: $archive holds no train/ and test/" >&2; exit 3; fi
chmod 755 "$inside"
mv "$inside" "$folder"
echo "$folder: $(find "$folder/train" -name '*.jpg' | wc -l) + $(find "$folder/test" -name '*.jpg' | wc -l) images"
