#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# Two daemons in two network namespaces: configured with wg, pinged through, loaded with iperf3, and measured.
# Everything lives in namespaces of this script's own and is gone when it ends, however it ends.
#
#   demo.sh DAEMON [PEER]       PEER: nexusguard-tun (the same daemon, the default), wireguard-go, or a path
set -euo pipefail

daemon=$(readlink -f "${1:?the path of nexusguard-tun}")
peer=${2:-nexusguard-tun}
seconds=${DEMO_SECONDS:-5}
. "$(dirname "$(readlink -f "$0")")/../../Harness/Scripts/demo-start.sh"
# The iproute2 and iperf3 outputs are parsed.
export LC_ALL=C

if [ "${DEMO_INSIDE:-}" != yes ]; then
    [ -x "$daemon" ] || stop "$daemon is not an executable."
    need wg ip ping iperf3 unshare
    enter "$@"
fi

case $peer in
nexusguard-tun) peer=$daemon ;;
*) peer=$(command -v "$peer") || stop "there is no command '$2'." ;;
esac

begin
cable left right

heading 'A daemon at each end'
start() {
    local side=$1 program=$2 interface=$3
    LOG_LEVEL=error NEXUSGUARD_STATE_DIRECTORY='' ip netns exec "$side" "$program" -f "$interface" >"$scratch/$side.log" 2>&1 &
    local pid=$! attempt
    for attempt in $(seq 100); do
        [ ! -S "/var/run/wireguard/$interface.sock" ] || break
        kill -0 "$pid" 2>/dev/null || break
        sleep 0.05
    done
    [ -S "/var/run/wireguard/$interface.sock" ] || stop "$program did not start."
    step "$(printf '%-5s  %s, interface %s' "$side" "$(basename "$program")" "$interface")"
}
start left "$daemon" wgleft
left_pid=$!
start right "$peer" wgright
right_pid=$!

heading 'Keys, peers and addresses, by wg and ip'
for side in left right; do
    wg genkey >"$scratch/$side.key"
    wg pubkey <"$scratch/$side.key" >"$scratch/$side.pub"
done
wg genpsk >"$scratch/psk"
at left wg set wgleft listen-port 51820 private-key "$scratch/left.key" \
    peer "$(cat "$scratch/right.pub")" preshared-key "$scratch/psk" \
    endpoint 192.0.2.2:51820 allowed-ips 10.0.0.2/32,fd00::2/128
at right wg set wgright listen-port 51820 private-key "$scratch/right.key" \
    peer "$(cat "$scratch/left.pub")" preshared-key "$scratch/psk" \
    allowed-ips 10.0.0.1/32,fd00::1/128
for side in left right; do
    [ $side = left ] && host=1 || host=2
    ip -n $side address add 10.0.0.$host/24 dev wg$side
    ip -n $side address add fd00::$host/64 dev wg$side nodad
    ip -n $side link set wg$side mtu 1420 up
done
step 'left  10.0.0.1, fd00::1        right  10.0.0.2, fd00::2'

heading 'Ping through the tunnel'
at left ping -q -c 1 -W 10 10.0.0.2 >/dev/null || stop 'no answer through the tunnel.'
at left ping -q -c 1 -W 10 fd00::2 >/dev/null || stop 'no answer through the tunnel over IPv6.'
at left ping -q -c 40 -i 0.05 -W 2 10.0.0.2 >"$scratch/ping"
grep -E 'packets transmitted' "$scratch/ping" | sed 's/^/  /'
latency=$(sed -n 's|.*= [0-9.]*/\([0-9.]*\)/\([0-9.]*\)/.*|\1 ms on average, \2 ms at most|p' "$scratch/ping")
step "$latency"

# Seconds of processor time that a process has used.
processor() {
    awk -v hertz="$(getconf CLK_TCK)" '{ sub(/.*\) /, ""); printf "%.2f", ($12 + $13) / hertz }' "/proc/$1/stat"
}
left_before=$(processor "$left_pid")
right_before=$(processor "$right_pid")

heading "TCP through the tunnel, $seconds seconds each way"
at right iperf3 -s -f m >/dev/null 2>&1 &
for attempt in $(seq 50); do
    at right ss -Hltn 'sport = :5201' | grep -q . && break
    sleep 0.1
done
transfer() {
    at left timeout 60 iperf3 -c 10.0.0.2 -t "$seconds" -f m "$@" >"$scratch/iperf" ||
        { cat "$scratch/iperf" >&2; stop 'the transfer failed.'; }
    awk '/receiver/ { print $7 }' "$scratch/iperf"
}
sent_rate=$(transfer)
step "left to right   $sent_rate Mbit/s"
back_rate=$(transfer -R)
step "right to left   $back_rate Mbit/s"

heading 'wg show, left'
at left wg show wgleft | sed 's/^/  /'
heading 'wg show, right'
at right wg show wgright | sed 's/^/  /'

memory() { awk '/^VmHWM/ { printf "%.1f MiB", $2 / 1024 }' "/proc/$1/status"; }
left_used=$(awk -v a="$(processor "$left_pid")" -v b="$left_before" 'BEGIN { printf "%.2f", a - b }')
right_used=$(awk -v a="$(processor "$right_pid")" -v b="$right_before" 'BEGIN { printf "%.2f", a - b }')
gigabits=$(awk -v a="$sent_rate" -v b="$back_rate" -v t="$seconds" 'BEGIN { printf "%.3f", (a + b) * t / 1000 }')
per_gigabit() { awk -v s="$1" -v g="$gigabits" 'BEGIN { if (g > 0) printf "%.2f s", s / g; else print "-" }'; }

heading 'In short'
row() { printf '  %-30s %-18s %s\n' "$1" "$2" "${3:-}" | sed 's/ *$//'; }
row '' left right
row 'daemon' "$(basename "$daemon")" "$(basename "$peer")"
row 'TCP sent' "$sent_rate Mbit/s" "$back_rate Mbit/s"
row 'most resident memory' "$(memory "$left_pid")" "$(memory "$right_pid")"
row 'processor time of both runs' "$left_used s" "$right_used s"
row 'processor time per gigabit' "$(per_gigabit "$left_used")" "$(per_gigabit "$right_used")"
row 'round trip' "$latency"
echo
echo "  Both ends, both daemons and iperf3 shared the $(nproc) processors of this machine."
