#!/bin/sh
# A stand-in for a package manager and what belongs to it: apt-get, apt-cache,
# apt-mark, dpkg, dpkg-query, dnf, zypper, rpm, rpmdb, modinfo, update-initramfs,
# dracut. It knows the command lines that envfix may give, word for word, and
# refuses every other one. Its state is files beside the programs:
#
#   state/log        each command line        state/refused   those that it does not know
#   state/offered    name version lines, oldest first; the repository has them
#   state/installed  name version lines       state/cache     those that were downloaded
#   state/locks      what is held             state/stream    dnf's module stream
#   state/offline    the network is gone      state/unbuilt   no kernel module gets built
#   state/idle       installations end well and install nothing
#   state/built      the kernel module's version, where it was built
#   state/dnf5       dnf is dnf5              state/desktop   a package that goes with the old driver
here=${0%/*}
state=$here/../state
root=$here/../root
me=${0##*/}
printf '%s\n' "$me $*" >>"$state/log"

refuse() { printf '%s\n' "$me $*" >>"$state/refused"; echo "$me: unexpected: $*" >&2; exit 2; }
net() { if [ -e "$state/offline" ]; then echo "E: could not resolve host" >&2; exit 100; fi; }
repository() { # NVIDIA's repository must have been added, and its key taken
  cat "$root"/etc/*/cuda-*.repo "$root"/etc/zypp/repos.d/cuda-*.repo 2>/dev/null | grep -q '^gpgcheck=1$' || { echo "no repository" >&2; exit 104; }
}
in_file() { # FILE LINE
  while read -r line; do [ "$line" != "$2" ] || return 0; done <"$state/$1"
  return 1
}
put() { in_file "$1" "$2" || echo "$2" >>"$state/$1"; }
drop() { grep -vE -- "$2" "$state/$1" >"$state/$1.new" 2>/dev/null || true; mv "$state/$1.new" "$state/$1"; }
locked() { [ -s "$state/locks" ] || return 1 # name version: is it locked at another one?
  while read -r ln lv; do
    if [ "$ln" = "$1" ] && [ "${lv:-$2}" != "$2" ]; then return 0; fi
  done <"$state/locks"
  return 1
}

# find SPEC SEPARATOR: sets name and version, the newest that fits.
find() {
  name= version= stream=
  if [ -s "$state/stream" ]; then read -r stream <"$state/stream"; stream=${stream%%-*}; fi
  while read -r n v; do
    case "$1" in "$n"|"$n$2$v") ;; *) continue ;; esac
    if [ -n "$stream" ]; then case "$n $v" in *" 3:$stream".*) ;; *nvidia-open*|cuda-drivers*) continue ;; esac; fi
    if locked "$n" "$v"; then continue; fi
    name=$n version=$v
  done <"$state/offered"
  [ -n "$name" ]
}

# others: what is installed of the driver in another flavour or branch than $name.
others() {
  case "$name" in nvidia-driver-[0-9]*|nvidia-open*|cuda-drivers*) ;; *) return 0 ;; esac
  while read -r n _; do
    case "$n" in
    "$name") ;;
    nvidia-driver-[0-9]*|nvidia-open|nvidia-open-[0-9]*|cuda-drivers|cuda-drivers-[0-9]*) echo "$n"; [ ! -e "$state/desktop" ] || cat "$state/desktop" ;;
    esac
  done <"$state/installed"
}

settle() { # the package, and what it brings, in its version
  [ ! -e "$state/idle" ] || return 0
  case "$name" in
  nvidia-driver-[0-9]*|nvidia-open*|cuda-drivers*)
    for n in $(others); do drop installed "^$n "; done
    drop installed "^(libnvidia|$name) "
    put installed "libnvidia $version"
    v=${version#*:}
    [ -e "$state/unbuilt" ] || echo "${v%%-*}" >"$state/built" ;;
  esac
  drop installed "^$name "
  put installed "$name $version"
}

apt_get() {
  conf='-o Dpkg::Options::=--force-confdef -o Dpkg::Options::=--force-confold '
  case "$*" in
  update) net; exit 0 ;;
  check) exit 0 ;;
  "install -y "*) net; spec=${*#install -y } mode=install ;;
  "install --simulate -y linux-headers-"*|"install --simulate -y nvidia-driver-pinning-"*) spec=${*##* } mode=simulate ;;
  "install --simulate -y $conf"*) spec=${*##* } mode=simulate ;;
  "install --download-only -y $conf"*) net; spec=${*##* } mode=download ;;
  "install --no-download -y $conf"*) spec=${*##* } mode=cached ;;
  *) refuse "$@" ;;
  esac
  case "${*#*"$conf"}" in "$spec"|"--allow-downgrades $spec"|"install -y $spec"|"install --simulate -y $spec") ;; *) refuse "$@" ;; esac
  find "$spec" = || { echo "E: Version '${spec#*=}' for '${spec%%=*}' was not found" >&2; exit 100; }
  if in_file locks "$name" && ! in_file installed "$name $version"; then echo "E: Held packages were changed and -y was used without --allow-change-held-packages." >&2; exit 100; fi
  case $mode in
  simulate) for n in $(others); do echo "Remv $n [1-1]"; done; echo "Inst $name ($version)" ;;
  download) put cache "$name $version" ;;
  cached) in_file cache "$name $version" || { echo "E: Failed to fetch $name: --no-download" >&2; exit 100; }; settle ;;
  install) settle ;;
  esac
}

dnf() {
  erase=
  case "$*" in
  makecache) repository; net; exit 0 ;;
  "module reset -y nvidia-driver") [ ! -e "$state/dnf5" ] || refuse "$@"; : >"$state/stream"; exit 0 ;;
  "module enable -y nvidia-driver:"[1-9]*)
    [ ! -e "$state/dnf5" ] || refuse "$@"
    if [ -s "$state/stream" ] && ! in_file stream "${*##*:}"; then
      echo "Error: It is not possible to switch enabled streams of a module" >&2; exit 1; fi
    echo "${*##*:}" >"$state/stream"; exit 0 ;;
  "-q versionlock list") locklist; exit 0 ;;
  "versionlock add *nvidia*"*"*") lockable "$@"; glob=${*##* }
    while read -r n v; do case "$n-$v" in $glob) put locks "$n $v" ;; esac; done <"$state/offered"; exit 0 ;;
  "versionlock delete "*) lockable "$@"; shift 2; for n in "$@"; do drop locks "^$n "; done; exit 0 ;;
  "-q -C repoquery --showduplicates --queryformat %{name} %{evr}\\n "*) cat "$state/offered"; exit 0 ;;
  "install --assumeno "*) mode=simulate ;;
  "install --downloadonly -y "*) net; mode=download ;;
  "install --cacheonly -y "*) mode=cached ;;
  "install -y "*) net; mode=install ;;
  *) refuse "$@" ;;
  esac
  case "$*" in *" --allowerasing "*) erase=yes ;; esac
  find "${*##* }" - || { echo "Error: Unable to find a match: ${*##* }" >&2; exit 1; }
  if [ -n "$(others)" ] && [ -z "$erase" ]; then echo "Error: problem with installed package" >&2; exit 1; fi
  case $mode in
  simulate)
    printf 'Dependencies resolved.\nInstalling:\n %s noarch %s cuda 1 k\n' "$name" "$version"
    if [ -n "$(others)" ]; then echo "Removing dependent packages:"; for n in $(others); do echo " $n noarch 1-1 @cuda 0"; done; fi
    printf '\nTransaction Summary\nOperation aborted.\n'; exit 1 ;;
  download) put cache "$name $version" ;;
  cached) in_file cache "$name $version" || { echo "Error: Cache-only enabled but no cache for $name" >&2; exit 1; }; settle ;;
  install) settle ;;
  esac
}
lockable() { [ -e "$state/dnf5" ] || grep -q '^python3-dnf-plugin-versionlock ' "$state/installed" || { echo "No such command: versionlock" >&2; exit 1; }; }
locklist() {
  lockable
  while read -r n v; do
    if [ -e "$state/dnf5" ]; then printf 'Package name: %s\nevr = %s\n\n' "$n" "$v"; else echo "$n-$v.*"; fi
  done <"$state/locks"
}

zypper() {
  [ "$1" = --non-interactive ] || refuse "$@"
  shift
  force=
  case "$*" in
  "refresh cuda-"*) repository; net; exit 0 ;;
  locks) echo "# | Name | Type | Repository"; while read -r n v; do echo "1 | $n | package | (any)"; done <"$state/locks"; exit 0 ;;
  "addlock "[a-z]*) put locks "$2"; exit 0 ;;
  "removelock "[a-z]*) drop locks "^$2\$"; exit 0 ;;
  "--no-refresh search --details --match-exact --type package "*)
    while read -r n v; do echo "v | $n | package | $v | x86_64 | cuda"; done <"$state/offered"; exit 0 ;;
  "--no-refresh install --dry-run --auto-agree-with-licenses "*) mode=simulate ;;
  "--no-refresh install --download-only --auto-agree-with-licenses "*) net; mode=download ;;
  "--no-refresh install --auto-agree-with-licenses "*) mode=cached ;;
  "install kernel-default-devel="*) net; mode=install ;;
  "install --dry-run kernel-default-devel="*) mode=simulate ;;
  *) refuse "$@" ;;
  esac
  case "$*" in *" --oldpackage --force-resolution "*) force=yes ;; esac
  find "${*##* }" = || { echo "No provider of '${*##* }' found." >&2; exit 104; }
  if in_file locks "$name" && ! in_file installed "$name $version"; then echo "Problem: the package is locked" >&2; exit 4; fi
  if [ -n "$(others)" ] && [ -z "$force" ]; then echo "Choose from above solutions by number or cancel (c): c" >&2; exit 4; fi
  case $mode in
  simulate)
    printf 'The following NEW package is going to be installed:\n  %s\n\n' "$name"
    if [ -n "$(others)" ]; then echo "The following packages are going to be REMOVED:"; for n in $(others); do echo "  $n"; done; fi ;;
  download) put cache "$name $version" ;;
  cached) in_file cache "$name $version" || net; settle; exit 102 ;;
  install) settle ;;
  esac
}

rpm() {
  case "$*" in
  "--import "/*/[0-9A-F]*.pub) put keys "${*##*/}" ;;
  "-qa --queryformat %{NAME} %|EPOCH?{%{EPOCH}:}|%{VERSION}-%{RELEASE}\\n") cat "$state/installed" ;;
  "-q --queryformat %|EPOCH?{%{EPOCH}:}|%{VERSION}-%{RELEASE}\\n "*)
    grep -q "^$4 " "$state/installed" || { echo "package $4 is not installed"; exit 1; }
    sed -n "s/^$4 //p" "$state/installed" ;;
  *) refuse "$@" ;;
  esac
}

case "$me" in
apt-get) apt_get "$@" ;;
dnf) dnf "$@" ;;
zypper) zypper "$@" ;;
rpm) rpm "$@" ;;
rpmdb) [ "$*" = --verifydb ] || refuse "$@"; [ ! -e "$state/damaged" ] || { echo "error: rpmdb: damaged"; exit 1; } ;;
apt-cache) [ "$1" = madison ] || refuse "$@"; while read -r n v; do echo "$n | $v | http://archive.example x Packages"; done <"$state/offered" ;;
apt-mark)
  case "$*" in
  showhold) cat "$state/locks" ;;
  "hold "[a-z]*) put locks "$2" ;;
  "unhold "[a-z]*) drop locks "^$2\$" ;;
  *) refuse "$@" ;;
  esac ;;
dpkg) case "$*" in --audit) cat "$state/damaged" 2>/dev/null ;; *) refuse "$@" ;; esac ;;
dpkg-query)
  case "$*" in
  '-W -f ${db:Status-Status} ${Package} ${Version}\n') sed 's/^/installed /' "$state/installed" ;;
  '-W -f ${db:Status-Status} ${Version}\n '*) grep -q "^$4 " "$state/installed" || exit 1; sed -n "s/^$4 /installed /p" "$state/installed" ;;
  *) refuse "$@" ;;
  esac ;;
modinfo) [ "$1 $3 $4 $5" = "-k -F version nvidia" ] || refuse "$@"; [ -e "$state/built" ] || { echo "modinfo: ERROR: Module nvidia not found." >&2; exit 1; }; cat "$state/built" ;;
update-initramfs) [ "$*" = -u ] || refuse "$@" ;;
dracut) [ "$*" = --force ] || refuse "$@" ;;
*) refuse "$@" ;;
esac
# What was printed last decides nothing: every refusal has ended the script.
exit 0
