"""Opens event streams and keeps them open: port, count; prints the count when all heads have arrived."""
import selectors
import socket
import sys

port, count = int(sys.argv[1]), int(sys.argv[2])
request = b"GET /events HTTP/1.1\r\nHost: 127.0.0.1\r\nAccept: text/event-stream\r\n\r\n"
waiting = selectors.DefaultSelector()
streams = []
while len(streams) < count:
    # A hundred at a time, which start before the next ones: this measures streams, not a rush of requests.
    left = min(100, count - len(streams))
    for _ in range(left):
        stream = socket.create_connection(("127.0.0.1", port))
        stream.sendall(request)
        streams.append(stream)
        waiting.register(stream, selectors.EVENT_READ)
    while left:
        for key, _ in waiting.select():
            if not key.fileobj.recv(4096):
                sys.exit("a stream was closed")
            waiting.unregister(key.fileobj)
            left -= 1
print(count, flush=True)
sys.stdin.read()
