# SPDX-License-Identifier: MIT
#
# The start of the demos, which source it: what they say, and namespaces of their own.

export PATH="$PATH:/usr/sbin:/sbin"

# stop SENTENCE: ends the demo, which cannot go on.
stop() {
    printf '\n%s: %s\n' "$(basename "$0" .sh)" "$1" >&2
    exit 1
}

# need TOOL...: ends the demo unless the commands are there.
need() {
    local tool
    for tool in "$@"; do
        command -v "$tool" >/dev/null ||
            stop "the command '$tool' is missing (.ci/packages build $(basename "$0" .sh) installs it)."
    done
    [ -e /dev/net/tun ] || stop "/dev/net/tun is absent: load the module 'tun' or give the container the device."
}

# enter ARGUMENT...: runs the demo again with these arguments, in network and mount namespaces of its own.
#
# Straight away as root, else (or as root of a container without the right) within a user namespace.
enter() {
    local target
    target=$(basename "$0" .sh)
    export DEMO_INSIDE=yes
    if [ "$(id -u)" -eq 0 ] && unshare --net --mount true 2>/dev/null; then
        exec unshare --net --mount "$0" "$@"
    elif unshare --user --map-root-user --net --mount true 2>/dev/null; then
        [ -r /dev/net/tun ] && [ -w /dev/net/tun ] ||
            stop "this user may not open /dev/net/tun. Run as root: sudo make $target"
        exec unshare --user --map-root-user --net --mount "$0" "$@"
    fi
    stop "this needs root, or a kernel that lets users make user namespaces
      (sysctl kernel.unprivileged_userns_clone=1). Run as root: sudo make $target"
}

heading() { printf '\n\033[1m%s\033[0m\n' "$1"; }
[ -t 1 ] || heading() { printf '\n%s\n' "$1"; }
step() { printf '  %s\n' "$1"; }
at() { ip netns exec "$@"; }
