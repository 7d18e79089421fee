#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# A control server that is the tunnel's other end in one network namespace, an agent in another: the agent gets
# an identity, brings its tunnel up, gets new keys, learns of forwarded ports, and outlives the server.
# Everything lives in namespaces of this script's own and is gone when it ends, however it ends.
#
#   demo-agent.sh FOLDER        FOLDER: where nexusguard-agent, nexusguard and nexusguard-control are
set -euo pipefail

folder=$(readlink -f "${1:?the folder of nexusguard-agent, nexusguard and nexusguard-control}")
. "$(dirname "$(readlink -f "$0")")/../../Harness/Scripts/demo-start.sh"
# The outputs of ping and ip are parsed.
export LC_ALL=C.UTF-8

if [ "${DEMO_INSIDE:-}" != yes ]; then
    for program in nexusguard-agent nexusguard nexusguard-control; do
        [ -x "$folder/$program" ] || stop "$folder/$program is not an executable."
    done
    need ip ping unshare
    enter "$@"
fi

begin

# Shows a command as one would type it, then runs it.
typed() {
    printf '  $ %s\n' "$*"
    "$@" 2>&1 | sed 's/^/    /'
}
nexusguard() { at device "$folder/nexusguard" --socket "$scratch/run/agent.sock" "$@"; }
nexusguard-control() { at server "$folder/nexusguard-control" --state-dir "$scratch/control" "$@"; }

# until_true SECONDS WHAT COMMAND...: asks again and again.
until_true() {
    local limit=$((SECONDS + $1)) what=$2
    shift 2
    until "$@" >/dev/null 2>&1; do
        [ "$SECONDS" -lt "$limit" ] || stop "never so: $what."
        sleep 0.2
    done
}

cable server device
ip -n device route add default via 192.0.2.1
# Without what the kernel adds for link-local addresses, a moment after a link is up.
routes() { ip -n device -4 -o route show table all && ip -n device -6 -o route show table all | sed '/fe80:\|ff00:/d' && ip -n device rule && ip -n device -6 rule; }
routes >"$scratch/before"

heading 'The control server, which is the other end of the tunnel too'
server_answers_or_ended() { [ -s "$scratch/addresses" ] || ! kill -0 "$server_pid"; }
start_server() {
    : >"$scratch/addresses"
    ip netns exec server "$folder/nexusguard-control" --state-dir "$scratch/control" serve --with-tunnel \
        --endpoint 192.0.2.1:51820 --listen 192.0.2.1:8443 --export-ca "$scratch/ca.pem" \
        --heartbeat-interval 5s >"$scratch/addresses" 2>>"$scratch/server.log" &
    server_pid=$!
    until_true 20 'the control server is ready' server_answers_or_ended
    kill -0 "$server_pid" 2>/dev/null || stop 'the control server did not start.'
}
start_server
sed "s/^/  /" "$scratch/addresses"
nexusguard-control token new --name demo >"$scratch/token"
step 'a fresh token, in a file that only root reads'

heading 'The agent'
mkdir -m 0755 "$scratch/run"
printf 'ca_file = %s\n' "$scratch/ca.pem" >"$scratch/agent.conf"
ip netns exec device "$folder/nexusguard-agent" --state-dir "$scratch/state" --runtime-dir "$scratch/run" \
    --config "$scratch/agent.conf" 2>>"$scratch/agent.log" &
agent_pid=$!
agent_answers_or_ended() { nexusguard status --check live || ! kill -0 "$agent_pid"; }
until_true 20 'the agent answers' agent_answers_or_ended
kill -0 "$agent_pid" 2>/dev/null || stop 'the agent did not start.'
typed nexusguard status

heading 'An identity for the token, and the tunnel'
typed nexusguard provision --server https://192.0.2.1:8443 --token-file "$scratch/token"
typed nexusguard up --timeout 30
typed nexusguard status

heading 'Ping through the tunnel'
# Until one is answered, then what ten take.
ping_through() {
    at device ping -n -q -c 1 -i 0.2 -w 40 10.172.21.1 >/dev/null || stop 'no answer through the tunnel.'
    at device ping -n -q -c 10 -i 0.1 -w 10 10.172.21.1 >"$scratch/ping" || stop 'answers are missing.'
    sed -n 's/^/  /; /packets transmitted/p; /rtt/p' "$scratch/ping"
}
ping_through

heading 'New keys from the server'
typed nexusguard-control rotate-keys demo
typed nexusguard refresh
one_key() { [ "$(nexusguard-control device show demo | grep -c 'public key')" -eq 1 ]; }
uses_new_keys() { nexusguard-control device show demo | grep -q 'public key.*(current)' && one_key; }
until_true 30 'the device uses its new keys' uses_new_keys
step 'the device moved to the new keys; the server has dropped the old ones'
ping_through
typed nexusguard status

heading 'A forwarded port'
typed nexusguard-control forward add demo tcp 8080 80
typed nexusguard refresh
knows_forward() { nexusguard forwards | grep -q 8080; }
until_true 30 'the device knows of the forward' knows_forward
typed nexusguard forwards
typed nexusguard status

heading 'The server stops'
kill "$server_pid"
wait "$server_pid" || stop 'the control server did not end in order.'
step 'stopped'
notices_absence() { nexusguard status | grep -q 'heartbeat-failed'; }
until_true 30 'the agent notices' notices_absence
typed nexusguard status

heading 'The server is back'
start_server
sed "s/^/  /" "$scratch/addresses"
has_contact() { nexusguard refresh; }
until_true 60 'the agent has contact again' has_contact
ping_through
typed nexusguard status

heading 'The agent ends'
kill "$agent_pid"
wait "$agent_pid" || stop 'the agent did not end in order.'
routes >"$scratch/after"
diff "$scratch/before" "$scratch/after" || stop 'the agent left something behind.'
step 'no interface, route or rule is left'
