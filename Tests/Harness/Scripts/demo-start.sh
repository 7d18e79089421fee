# SPDX-License-Identifier: MIT
#
# The start of the demos, which source it: what they say, namespaces of their own, and their end.

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

scratch=
# begin: makes the folder $scratch, and a /run which only this demo sees.
#
# However the demo ends, what it started in the background ends and the folder is gone; after a failure the last lines
# of the logs in the folder are shown.
begin() {
    trap finish EXIT
    trap 'exit 130' INT
    trap 'exit 143' TERM HUP
    umask 077
    scratch=$(mktemp -d)
    # For sockets and the names of namespaces.
    mount -t tmpfs tmpfs /run
    # Where /var/run is not a link to /run, the daemons' sockets need the same there.
    [ /var/run -ef /run ] || mount -t tmpfs tmpfs /var/run
}

finish() {
    local status=$? children pid log
    trap - EXIT
    # A second Ctrl-C must not interrupt the cleaning.
    trap '' INT TERM HUP
    children=$(jobs -pr)
    for pid in $children; do kill "$pid" 2>/dev/null || true; done
    for pid in $children; do wait "$pid" 2>/dev/null || true; done
    if [ "$status" -ne 0 ] && [ "$status" -lt 128 ] && [ -n "$scratch" ]; then
        for log in "$scratch"/*.log; do
            [ ! -s "$log" ] || { echo "--- the last lines of $(basename "$log")" && tail -n 25 "$log"; } >&2
        done
    fi
    [ -z "$scratch" ] || rm -rf "$scratch"
    exit "$status"
}

# cable ONE OTHER: makes two namespaces, 192.0.2.1 and 192.0.2.2 of one network.
cable() {
    local side host=0
    heading 'Two network namespaces joined by a cable'
    for side in "$@"; do ip netns add "$side"; done
    ip link add cable netns "$1" type veth peer name cable netns "$2"
    for side in "$@"; do
        host=$((host + 1))
        ip -n "$side" link set lo up
        ip -n "$side" address add 192.0.2.$host/24 dev cable
        ip -n "$side" link set cable up
    done
    step "$1  192.0.2.1        $2  192.0.2.2"
}
