#!/usr/bin/env bash
# Prints the Homebrew formula of a release: packaging/homebrew.sh VERSION SHA256SUMS
set -euo pipefail
version=$1
sums=$2

sum() {
  awk -v name="switchboard-$1.tar.gz" '$2 == name { print $1; found = 1 } END { exit !found }' "$sums" ||
    { echo "$sums has no line for switchboard-$1.tar.gz" >&2; exit 1; }
}

# Before anything is printed: a missing line ends the script here.
mac_arm=$(sum aarch64-apple-darwin)
mac_intel=$(sum x86_64-apple-darwin)
linux_arm=$(sum aarch64-unknown-linux-gnu)
linux_intel=$(sum x86_64-unknown-linux-gnu)
releases=https://github.com/switchboard-rs/switchboard/releases/download/v$version

cat <<END
class Switchboard < Formula
  desc "Chat with any model and any MCP server, with approvals"
  homepage "https://github.com/switchboard-rs/switchboard"
  version "$version"
  license any_of: ["MIT", "Apache-2.0"]

  on_macos do
    on_arm do
      url "$releases/switchboard-aarch64-apple-darwin.tar.gz"
      sha256 "$mac_arm"
    end
    on_intel do
      url "$releases/switchboard-x86_64-apple-darwin.tar.gz"
      sha256 "$mac_intel"
    end
  end

  on_linux do
    on_arm do
      url "$releases/switchboard-aarch64-unknown-linux-gnu.tar.gz"
      sha256 "$linux_arm"
    end
    on_intel do
      url "$releases/switchboard-x86_64-unknown-linux-gnu.tar.gz"
      sha256 "$linux_intel"
    end
  end

  def install
    bin.install "switchboard"
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/switchboard --version")
  end
end
END
