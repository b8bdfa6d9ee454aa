#!/bin/sh
# Installs envfix for one user: fetches the program for this system, checks its
# sha256 (and its signature, where minisign is there), and puts it into
# ~/.local/bin. It needs no root and changes nothing else.
#
#   sh install.sh [--to DIR] [--from URL] [--version X.Y.Z] [--sha256 HEX]
#
# ENVFIX_URL names the folder of the releases as well; --version a folder in it.
set -eu

# make release sets these two for the copy that it publishes.
url=''
key=''

from=${ENVFIX_URL:-$url} to='' version='' sha256=''

fail() {
	printf 'install.sh: error: %s\n' "$1" >&2
	[ $# -lt 2 ] || printf '  %s\n' "$2" >&2
	exit 1
}

arguments() {
	while [ $# -gt 0 ]; do
		case $1 in
		--to | --from | --version | --sha256) [ $# -gt 1 ] || fail "$1 needs a value" ;;
		esac
		case $1 in
		--to) to=$2 && shift ;;
		--from) from=$2 && shift ;;
		--version) version=$2 && shift ;;
		--sha256) sha256=$2 && shift ;;
		-h | --help) sed -n 's/^# \{0,1\}//p' <<'TEXT' && exit ;;
# sh install.sh [--to DIR] [--from URL] [--version X.Y.Z] [--sha256 HEX]
#   --to DIR       where the program goes (~/.local/bin)
#   --from URL     the folder of the releases
#   --version V    not the newest
#   --sha256 HEX   what the download must be, whatever SHA256SUMS says
TEXT
		*) fail "$1 is no argument of this script" 'sh install.sh --help lists them' ;;
		esac
		shift
	done
	[ -n "$from" ] || fail 'no address of a release is set' 'name one: --from https://…, or ENVFIX_URL'
	[ -z "$version" ] || from=${from%/}/$version
	if [ -z "$to" ]; then
		[ -n "${HOME:-}" ] || fail 'HOME is not set, so there is no ~/.local/bin' 'name a folder: --to DIR'
		to=$HOME/.local/bin
	fi
}

# name is what the download for this system is called.
name() {
	machine=$(uname -m)
	case $(uname -s)/$machine in
	Linux/x86_64 | Linux/amd64) echo envfix-linux-x86_64 ;;
	Linux/aarch64 | Linux/arm64) echo envfix-linux-aarch64 ;;
	Darwin/arm64) echo envfix-macos-arm64 ;;
	Darwin/x86_64) echo envfix-macos-x86_64 ;;
	*) fail "there is no envfix for $(uname -s) on $machine" 'Windows: use scoop, or pip install envfix-gpu' ;;
	esac
}

# fetch URL FILE: what is left where it fails is in the folder that goes away.
fetch() {
	if command -v curl >/dev/null 2>&1; then
		case $1 in # no way from https to plain http
		https:*) curl --proto '=https' -fsSL --retry 2 -o "$2" "$1" ;;
		*) curl -fsSL --retry 2 -o "$2" "$1" ;;
		esac
	elif command -v wget >/dev/null 2>&1; then
		wget -q -O "$2" "$1"
	else
		fail 'neither curl nor wget is here' 'install one of them, or: pip install envfix-gpu'
	fi || fail "$1 could not be fetched" 'the network, a proxy (https_proxy), or no such release'
}

digest() {
	if command -v sha256sum >/dev/null 2>&1; then
		sha256sum "$1" | cut -d ' ' -f 1
	elif command -v shasum >/dev/null 2>&1; then
		shasum -a 256 "$1" | cut -d ' ' -f 1
	else
		openssl dgst -sha256 -r "$1" | cut -d ' ' -f 1
	fi
}

check() {
	if [ -n "$key" ] && command -v minisign >/dev/null 2>&1; then
		fetch "$from/SHA256SUMS.minisig" "$scratch/SHA256SUMS.minisig"
		minisign -Vq -P "$key" -m "$scratch/SHA256SUMS" >/dev/null || fail 'the signature of SHA256SUMS is not right' 'nothing was installed'
		echo 'signature: right'
	fi
	want=$(sed -n "s/^\([0-9a-f]\{64\}\)  $archive\$/\1/p" "$scratch/SHA256SUMS")
	[ -n "$want" ] || fail "SHA256SUMS of $from does not name $archive" 'nothing was installed'
	want=${sha256:-$want}
	have=$(digest "$scratch/$archive")
	[ "$want" = "$have" ] || fail "$archive is not what was published (sha256 $have, not $want)" 'nothing was installed; fetch it again'
	echo "sha256: $have"
}

# put moves the program into place by one rename: an envfix that runs goes on.
put() {
	mkdir -p "$to" || fail "$to cannot be made" 'name another folder: --to DIR'
	tar -xzf "$scratch/$archive" -C "$scratch" envfix
	"$scratch/envfix" --version >/dev/null || fail 'the program does not start here' 'nothing was installed'
	if ! { cp "$scratch/envfix" "$to/.envfix.$$" && chmod 755 "$to/.envfix.$$" && mv "$to/.envfix.$$" "$to/envfix"; }; then
		rm -f "$to/.envfix.$$"
		fail "$to/envfix cannot be written" 'name another folder: --to DIR'
	fi
}

main() {
	arguments "$@"
	archive=$(name).tar.gz
	from=${from%/}
	scratch=$(mktemp -d)
	trap 'rm -rf "$scratch"' EXIT
	trap 'exit 130' INT TERM
	fetch "$from/SHA256SUMS" "$scratch/SHA256SUMS"
	fetch "$from/$archive" "$scratch/$archive"
	check
	put
	printf 'installed %s\n' "$("$to/envfix" --version)" "as $to/envfix"
	found=$(command -v envfix || true)
	case $found in
	"$to/envfix") echo 'next: envfix' ;;
	'') echo "next: export PATH=\"$to:\$PATH\"; envfix" ;;
	*) printf 'next: %s/envfix   (another envfix comes first on PATH: %s)\n' "$to" "$found" ;;
	esac
}

main "$@"
