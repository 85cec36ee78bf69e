"""A server of tools with the reference SDK of either era.

The argument is how it is reached, http or sse. It prints its port as the first line.
"""
import asyncio
import socket
import sys

import uvicorn

try:
    from mcp.server.mcpserver import MCPServer
except ImportError:
    from mcp.server.fastmcp import FastMCP as MCPServer

server = MCPServer("sums")


@server.tool()
def add(a: int, b: int) -> int:
    """Adds two numbers."""
    return a + b


@server.tool()
def fail(reason: str) -> str:
    """Fails for a reason."""
    raise ValueError(reason)


@server.tool()
async def wait() -> str:
    """Never answers."""
    await asyncio.Event().wait()
    return "never"


listener = socket.socket()
listener.bind(("127.0.0.1", 0))
# From now on clients can connect, and wait until the server is ready.
listener.listen()
print(listener.getsockname()[1], flush=True)
app = server.sse_app() if sys.argv[1] == "sse" else server.streamable_http_app()
uvicorn.Server(uvicorn.Config(app, log_level="warning", lifespan="on")).run(sockets=[listener])
