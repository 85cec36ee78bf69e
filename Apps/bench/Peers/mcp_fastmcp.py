"""A server of FastMCP with one tool. Arguments: `stdio`, or `http`, which prints its port of 127.0.0.1 first."""
import socket
import sys

from fastmcp import FastMCP

server = FastMCP("fast")


@server.tool
def add(a: int, b: int) -> int:
    """Adds two numbers."""
    return a + b


if sys.argv[1] == "stdio":
    server.run(show_banner=False)
else:
    import uvicorn

    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    listener.listen()
    print(listener.getsockname()[1], flush=True)
    # The ways that cost it least: no sessions, and no streams.
    app = server.http_app(stateless_http=True, json_response=True)
    uvicorn.Server(uvicorn.Config(app, log_level="warning", lifespan="on")).run(sockets=[listener])
