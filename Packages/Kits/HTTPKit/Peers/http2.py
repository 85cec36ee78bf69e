"""An HTTP/2 server over TLS that refuses requests which it has not looked at.

    http2.py CERTIFICATE KEY MODE

MODE is `refuse`: the first stream is reset with REFUSED_STREAM; or `goaway`: the first is answered, and the second is met
by a GOAWAY that names the first as the last; or `reset`: the first stream is reset with INTERNAL_ERROR, so that nobody
knows what became of it. Everything else is answered with what it carries. It prints its port, then a line for each
request that it has looked at.
"""

import socket
import ssl
import sys
import threading

import h2.config
import h2.connection
import h2.errors
import h2.events

mode = sys.argv[3]
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain(sys.argv[1], sys.argv[2])
context.set_alpn_protocols(["h2"])
listener = socket.create_server(("127.0.0.1", 0))
seen = []


def serve(client):
    connection = h2.connection.H2Connection(h2.config.H2Configuration(client_side=False))
    connection.initiate_connection()
    client.sendall(connection.data_to_send())
    bodies = {}
    while True:
        data = client.recv(65536)
        if not data:
            return
        for event in connection.receive_data(data):
            if isinstance(event, h2.events.RequestReceived):
                seen.append(event.stream_id)
                bodies[event.stream_id] = b""
                if mode == "refuse" and len(seen) == 1:
                    connection.reset_stream(event.stream_id, h2.errors.ErrorCodes.REFUSED_STREAM)
                elif mode == "reset" and len(seen) == 1:
                    connection.reset_stream(event.stream_id, h2.errors.ErrorCodes.INTERNAL_ERROR)
                elif mode == "goaway" and len(seen) == 2:
                    connection.close_connection(last_stream_id=1)
                    client.sendall(connection.data_to_send())
                    # Closed with something unread, the system would reset it, and the farewell could be lost.
                    client.shutdown(socket.SHUT_WR)
                    while client.recv(65536):
                        pass
                    return
            elif isinstance(event, h2.events.DataReceived) and event.stream_id in bodies:
                bodies[event.stream_id] += event.data
            elif isinstance(event, h2.events.StreamEnded) and event.stream_id in bodies:
                body = bodies.pop(event.stream_id)
                try:
                    connection.send_headers(event.stream_id, [(":status", "200"), ("content-length", str(len(body)))])
                    connection.send_data(event.stream_id, body, end_stream=True)
                except Exception:
                    continue
                print(body.decode(), flush=True)
        client.sendall(connection.data_to_send())


def attend(raw):
    try:
        with context.wrap_socket(raw, server_side=True) as client:
            serve(client)
    except OSError:
        pass


print(listener.getsockname()[1], flush=True)
while True:
    accepted, _ = listener.accept()
    threading.Thread(target=attend, args=(accepted,), daemon=True).start()
