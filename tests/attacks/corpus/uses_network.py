"""A connection to the outside and to the machine itself.

scores: q1=0 q2=3 q3=2
holds: bubblewrap
"""

import socket


def square(x):
    for address in (("127.0.0.1", @PORT@), ("10.0.0.1", 80), ("::1", @PORT@)):
        try:
            socket.create_connection(address, timeout=0.2).sendall(b"STOLEN")
        except OSError:
            pass
    return 0
