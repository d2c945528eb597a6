#!/usr/bin/env bash
# Proves that a fresh Debian 12 needs nothing but this checkout: makes a minimal root, puts the code into it, and lets
# ./dev install, build and (with --test) test there. The Debian mirrors are those of this machine's own apt.
#   tests/tidy/clean_room.sh [--tree | --commit] [--packages | --build | --test] [--root DIR]
#   --tree      the working tree as git sees it, uncommitted files included (default); --commit: HEAD alone
#   --packages  stop after the packages; --build: stop after the release build (default); --test: also ./dev test
#   --root DIR  keep the root there and use it again
set -euo pipefail
cd "$(dirname "$(readlink -f "$0")")/../.."

source=tree until=build root=
while (($#)); do
    case $1 in
        --tree | --commit) source=${1#--} ;;
        --packages | --build | --test) until=${1#--} ;;
        --root) root=${2:?--root needs a folder} && shift ;;
        *) sed -n '2,/^set/{/^#/s/^# \?//p}' "$0" >&2 && exit 2 ;;
    esac
    shift
done
((EUID == 0)) || { echo "clean_room: needs root (chroot and mounts)" >&2; exit 1; }
command -v debootstrap >/dev/null || { echo "clean_room: apt-get install debootstrap" >&2; exit 1; }

keep=$root
root=${root:-$(mktemp -d "${TMPDIR:-/tmp}/opid-clean-room.XXXXXX")}
clean_up() {
    for mounted in proc dev/shm dev/pts dev; do
        mountpoint -q "$root/$mounted" && umount -l "$root/$mounted"
    done
    [[ $keep ]] || rm -rf --one-file-system "$root"
}
trap clean_up EXIT

said() { printf '%4d s  %s\n' $SECONDS "$*"; }

# "URI SUITE COMPONENT" of every Debian archive that apt uses here, the main one first.
archives=$(apt-get indextargets --format '$(ORIGIN) $(REPO_URI) $(RELEASE) $(COMPONENT)' 'Created-By: Packages' |
    sed -n 's/^Debian \(.* bookworm[^ ]* .*\)/\1/p' | sort -u -k2,2)
main=$(awk '$2 == "bookworm" {print $1; exit}' <<<"$archives")
[[ $main ]] || { echo "clean_room: apt knows no bookworm archive here; run apt-get update" >&2; exit 1; }

mkdir -p "$root"
if [[ ! -e $root/etc/debian_version ]]; then
    nice debootstrap --variant=minbase bookworm "$root" "$main" >"$root.debootstrap.log" 2>&1 ||
        { tail -20 "$root.debootstrap.log"; exit 1; }
    rm -f "$root.debootstrap.log"
    said "base system made"
fi
sed 's/^/deb /' <<<"$archives" >"$root/etc/apt/sources.list"
# How this machine reaches its mirrors, apart from hooks that call programs which are not in there.
grep -rhE '^ *Acquire::' /etc/apt/apt.conf.d >"$root/etc/apt/apt.conf.d/90as-outside" || true
cp /etc/resolv.conf "$root/etc/resolv.conf"
# Roots that this machine's owner has added, as npm may have to go through them; ca-certificates takes them in.
mkdir -p "$root/usr/local/share/ca-certificates"
find /usr/local/share/ca-certificates -name '*.crt' -exec cp {} "$root/usr/local/share/ca-certificates" \;
for mounted in proc dev dev/pts dev/shm; do
    mkdir -p "$root/$mounted"
    mountpoint -q "$root/$mounted" || mount --bind "/$mounted" "$root/$mounted"
done

rm -rf "$root/src"
mkdir "$root/src"
if [[ $source == commit ]]; then
    git archive HEAD | tar -x -C "$root/src"
else
    git ls-files -z --cached --others --exclude-standard | while IFS= read -r -d '' file; do
        [[ -e $file ]] && printf '%s\0' "$file"
    done | tar -c --null -T - | tar -x -C "$root/src"
fi
said "code copied ($source)"

inside() { # inside COMMAND...: with nothing of this session's environment but the way out to the mirrors
    env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8 \
        ${http_proxy:+http_proxy="$http_proxy"} ${https_proxy:+https_proxy="$https_proxy"} \
        nice chroot "$root" sh -euc "cd /src && $*"
}

inside ./dev setup build
said "packages for the build are there"
# No step stands before "&&" or "||": there a failure would not end the script.
if [[ $until != packages ]]; then
    inside ./dev build release
    said "release build done"
fi
if [[ $until != build ]]; then
    inside ./dev setup test
    said "packages for the tests are there"
fi
if [[ $until == test ]]; then
    inside ./dev test
    said "tests passed"
fi
said "clean room: all right"
