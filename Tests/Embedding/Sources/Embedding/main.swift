// SPDX-License-Identifier: MIT
//
// What a program outside this package writes: one import and public declarations only.

import NexusGuard

let secret = readLine() ?? ""
let peer = PeerConfiguration(
    publicKey: try PublicKey(base64: "HIgo9xNzJMWLKASShiTqIybxZ0U3wGLiUeJ1PKf8ykw="),
    allowedIPs: [try IPPrefix("10.0.0.0/24")],
    endpoint: try Endpoint("198.51.100.7:51820"))
let tunnel = try Tunnel(name: "wg0", privateKey: PrivateKey(base64: secret), listenPort: 51820, peers: [peer])
try tunnel.start()
let handshake = tunnel.statistics.peers[peer.publicKey]?.latestHandshake
print(handshake.map { "\($0) after 1970" } ?? "never")
tunnel.stop()
