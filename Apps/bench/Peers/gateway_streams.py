"""Reads many streamed completions concurrently: port, path, token, number of streams, frames of each; prints "whole"
if nothing is missing."""
import selectors
import socket
import sys

port, path, token, count, frames = int(sys.argv[1]), sys.argv[2], sys.argv[3], int(sys.argv[4]), int(sys.argv[5])
body = b'{"stream": true, "messages": [{"role": "user", "content": "Go on"}]}'
request = (
    b"POST %s HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer %s\r\n"
    b"Content-Type: application/json\r\nContent-Length: %d\r\nConnection: close\r\n\r\n%s"
    % (path.encode(), token.encode(), len(body), body))
waiting = selectors.EpollSelector()
opened = 0


def open_some():
    """Opens a hundred more, which start before the next ones: this measures streams, not a rush of requests."""
    global opened
    for _ in range(min(100, count - opened)):
        stream = socket.create_connection(("127.0.0.1", port))
        stream.sendall(request)
        stream.setblocking(False)
        waiting.register(stream, selectors.EVENT_READ, [])
        opened += 1


open_some()
begun = 0
left, short = count, 0
while left:
    for key, _ in waiting.select():
        piece = key.fileobj.recv(65536)
        if piece:
            if not key.data:
                begun += 1
                if begun == opened:
                    open_some()
            key.data.append(piece)
            continue
        waiting.unregister(key.fileobj)
        key.fileobj.close()
        left -= 1
        answer = b"".join(key.data)
        short += answer.count(b'"content":"word') != frames or b"data: [DONE]" not in answer
print("whole" if not short else f"{short} of {count} are not whole")
