# SPDX-License-Identifier: MIT
"""Opens a TUN interface and a control socket, and becomes a daemon that is to use both.

    adopt.py PROGRAM INTERFACE SOCKET
"""

import fcntl
import os
import socket
import struct
import sys

TUNSETIFF = 0x400454CA
IFF_TUN, IFF_NO_PI, IFF_VNET_HDR = 0x0001, 0x1000, 0x4000

program, interface, path = sys.argv[1:]
tun = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
fcntl.ioctl(tun, TUNSETIFF, struct.pack("16sH22x", interface.encode(), IFF_TUN | IFF_NO_PI | IFF_VNET_HDR))
os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
os.umask(0o077)
listener.bind(path)
listener.listen(8)
for descriptor in (tun, listener.fileno()):
    os.set_inheritable(descriptor, True)
os.environ["WG_TUN_FD"] = str(tun)
os.environ["WG_UAPI_FD"] = str(listener.fileno())
os.execv(program, [program, "-f", interface])
