# SPDX-License-Identifier: MIT
"""Brings the loopback port of another namespace to the one of the tests, as `ssh -L` brings it to another host."""

import ctypes
import os
import socket
import threading

from .process import PATIENCE

CLONE_NEWNET = 0x40000000
_libc = ctypes.CDLL(None, use_errno=True)


def _enter(namespace):
    """Moves the calling thread alone."""
    handle = os.open(f"/run/netns/{namespace}", os.O_RDONLY)
    try:
        if _libc.setns(handle, CLONE_NEWNET) != 0:
            raise OSError(ctypes.get_errno(), f"setns {namespace}")
    finally:
        os.close(handle)


class Relay:
    """127.0.0.1:`port` here is 127.0.0.1:`port` there."""

    def __init__(self, namespace, port):
        self.namespace, self.port = namespace, port
        self.listener = socket.create_server(("127.0.0.1", port), backlog=128)
        threading.Thread(target=self._serve, daemon=True).start()

    def close(self):
        self.listener.close()

    def _serve(self):
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self._connect, args=(client,), daemon=True).start()

    def _connect(self, client):
        try:
            _enter(self.namespace)
            server = socket.create_connection(("127.0.0.1", self.port), timeout=PATIENCE)
            server.settimeout(None)
        except OSError:
            client.close()
            return
        threading.Thread(target=self._pump, args=(server, client), daemon=True).start()
        self._pump(client, server)

    @staticmethod
    def _pump(source, target):
        try:
            while data := source.recv(65536):
                target.sendall(data)
        except OSError:
            pass
        for one in (source, target):
            try:
                one.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
