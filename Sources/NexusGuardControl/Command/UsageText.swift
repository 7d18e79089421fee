// SPDX-License-Identifier: MIT

/// The texts of `--help`.
package enum UsageText {
    /// The text of a command such as `token new`, or of all when there is no such command.
    package static func text(of command: String?) -> String {
        switch command?.split(separator: " ").first {
        case "serve": serve
        case "token": token
        case "device", "rotate-keys": device
        case "forward": forward
        default: all
        }
    }

    private static let all = """
        Usage: nexusguard-control COMMAND [OPTIONS]

        The control server of NexusGuard agents: tokens, devices, keys and forwards.

          serve                 run the server
          token new             make a registration token and print it, once
          token list            list the tokens
          token revoke ID       take a token back; its device stays
          device list           list the devices
          device show DEVICE    show one device
          device revoke DEVICE  take a device's identity
          rotate-keys DEVICE    give a device new keys with its next heartbeat
          forward add|rm|list   the forwards that devices are told of

        Options of every command:
          --state-dir DIR   where the state is (default $STATE_DIRECTORY, else /var/lib/nexusguard-control)
          --json            results as JSON, with "schema": 1
          -h, --help        explain the command
              --version     print the version

        DEVICE is an identifier, the first four or more characters of one, or the name of its token.
        The commands work while the server runs; it follows within a second.
        Run them as the user of the server: the state belongs to one user alone.

        Exit codes: 0 done, 1 failed, 2 wrong command line, 3 no such token, device or forward, 4 in conflict with
        what is there.

        """

    private static let token = """
        Usage: nexusguard-control token new [--name TEXT] [--expires TIME]
               nexusguard-control token list
               nexusguard-control token revoke ID

        A token lets one device ask for its identity. It has 256 random bits and is printed by `token new` and
        never again: the server keeps only its digest. The first device that uses it is bound to it by its hardware
        identifier; that device may ask again and gets the same identity, any other is refused.

          --name TEXT      a name for the token and its device
          --expires TIME   when the first use must have happened, such as 30m, 24h or 7d from now

        `token revoke` takes the ID that `token list` shows, never the token. The device of the token, if there is
        one, keeps its identity; `device revoke` takes that.

        """

    private static let device = """
        Usage: nexusguard-control device list [--all]
               nexusguard-control device show DEVICE
               nexusguard-control device revoke DEVICE
               nexusguard-control rotate-keys DEVICE

          --all   with the devices that were revoked or gave their identity back

        `device revoke` erases the keys of a device, frees its addresses and ends its token and forwards. The device
        is told so when it asks next. It can only come back with a new token, as another device.

        `rotate-keys` makes a new key pair and preshared key. The device gets them with its next heartbeat; the server
        accepts the old ones until the device has used the new ones. Other devices notice nothing.

        No command shows a private or preshared key.

        """

    private static let forward = """
        Usage: nexusguard-control forward add DEVICE PROTOCOL PUBLIC_PORT TARGET
               nexusguard-control forward rm PROTOCOL PUBLIC_PORT
               nexusguard-control forward list [DEVICE]

          PROTOCOL      tcp or udp
          PUBLIC_PORT   the port of the server, 1 to 65535
          TARGET        PORT of the device itself, or ADDRESS:PORT of a host behind it

        Forwards are records that the server tells devices of. It does not forward packets itself: that is for the
        host's firewall.

        """

    private static let serve = """
        Usage: nexusguard-control serve --endpoint HOST:PORT (--with-tunnel | --public-key KEY) [OPTIONS]

        Requests:
          --listen ADDRESS:PORT      where to listen, repeatable (default 127.0.0.1:8443)
          --tls-cert FILE            certificate in PEM, with those that sign it
          --tls-key FILE             its key in PEM
          --host-name NAME           a name or address in the development certificate, repeatable; the server makes
                                     that certificate, and keeps it, when none is given
          --export-ca FILE           copy the development certificate there, for clients to trust
          --http                     no TLS; only on loopback addresses
          --allow-plain-http         no TLS on other addresses too: keys may cross the network in the clear
          --provisions-per-minute N  for each address (default 5)
          --allow-unauthenticated    answer devices that do not prove who they are
          --allow-plain-answers      answer heartbeats of devices that do not ask for an answer encrypted under their key

        What devices are told:
          --endpoint HOST:PORT       where they reach the WireGuard server
          --public-key KEY           the key of a WireGuard server elsewhere
          --pool PREFIX              where their addresses come from, one for each family, repeatable
                                     (default 10.172.21.0/24)
          --server-address ADDRESS   the server's address in a pool, repeatable (default the first)
          --allowed-ips PREFIXES     what they send through the tunnel (default the pools)
          --dns ADDRESSES            their name servers, at most four
          --mtu N                    their MTU (default: they choose)
          --keepalive SECONDS        their keepalive interval (default 25)
          --heartbeat-interval TIME  1s to 1h (default: they choose)
          --admin-url URL            a page for administrators
          --no-preshared-keys        new devices and new keys have none
          --forwards-in-heartbeats   heartbeats carry the forwards, not only their hash

        The WireGuard server:
          --with-tunnel              be it, in this process; needs CAP_NET_ADMIN. Devices are added, removed and
                                     given new keys while it runs. Routing beyond the interface, such as to the
                                     Internet or between hosts, is for the host's own settings
          --interface NAME           its interface (default ngcontrol0)
          --listen-port PORT         its UDP port (default that of --endpoint)

        For tests:
          --fault FAULT              something that goes wrong, repeatable:
                                     KIND[=VALUE][@provision|@heartbeat|@forwards|@deprovision][*COUNT]
              delay=TIME             the answer comes later
              drop, drop-after       no answer; the request is not carried out, or is
              status=N               this status; retry-after=VALUE adds that field (alone: status 503)
              garbage, html          random bytes, or a page as of a captive portal
              redirect=URL           status 302
              oversize=BYTES         a well-formed answer that is too large
              truncate               the connection closes in the middle of the answer
              wrong-tag, wrong-key   an encrypted answer that cannot be opened; others stay as they are
              other-device           the answer is for another device
              bad-field=NAME         this field of the answer makes no sense
              rotate-every=N         new keys with every N-th heartbeat of a device
          --fault-file FILE          further faults, one a line, # begins a comment line; read anew when it changes

          --log-level LEVEL          debug, info (default), warn or error; the log goes to standard error

        When the server is ready it prints its addresses to standard output. SIGTERM and SIGINT end it.

        State: STATE/control.db (0600) holds digests of tokens, and in the clear the server's and the devices'
        WireGuard keys and the key that each device's requests are proved with: the server hands keys out with every
        heartbeat, so it must have them. Protect it, and backups of it, as you would a private key.

        """
}
