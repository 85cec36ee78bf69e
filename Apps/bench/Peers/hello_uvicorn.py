"""The smallest ASGI application on uvicorn with uvloop and httptools, in one process; prints its port."""
import asyncio
import socket
import sys

import uvicorn

BODY = b"hello\n"
HEADERS = [(b"content-type", b"text/plain"), (b"content-length", b"6")]


async def application(scope, receive, send):
    await send({"type": "http.response.start", "status": 200, "headers": HEADERS})
    await send({"type": "http.response.body", "body": BODY})


# The protocol is explicit, since uvloop sets TCP_NODELAY only on sockets that name TCP.
listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
listener.bind(("127.0.0.1", 0))
listener.listen(2048)
print(listener.getsockname()[1], flush=True)
configuration = uvicorn.Config(
    application, loop="uvloop", http="httptools", lifespan="off", log_level="critical", access_log=False)
asyncio.new_event_loop().run_until_complete(uvicorn.Server(configuration).serve(sockets=[listener]))
