#!/usr/bin/env bash
# Packs the program that was built for a target into release/: packaging/archive.sh TARGET
set -euo pipefail
cd "$(dirname "$0")/.."
target=$1
name=switchboard-$target
stage=target/archive/$name
mkdir -p "$stage" release
for program in switchboard switchboard.exe; do
  if [ -e "target/$target/dist/$program" ]; then
    cp "target/$target/dist/$program" "$stage/"
  fi
done
cp LICENSE-MIT LICENSE-APACHE CHANGELOG.md switchboard/README.md "$stage/"
# Windows has had tar since 2018.
tar -czf "release/$name.tar.gz" -C target/archive "$name"
