"""A server of FastMCP of either era, whose streams can be resumed.

Arguments: the transport (stdio, http, sse). The last two print the port as the first line.
"""
import socket
import sys
from typing import Annotated

from fastmcp import Context, FastMCP
from fastmcp.server.event_store import EventStore
from pydantic import Field

server = FastMCP("fast", instructions="Use this fast.")


@server.tool
def add(a: int, b: int) -> int:
    """Adds two numbers."""
    return a + b


@server.tool
def list_all() -> list[str]:
    """Gives a result that is no object."""
    return ["a", "b"]


@server.tool
def route(region: Annotated[str, Field(json_schema_extra={"x-mcp-header": "Region"})]) -> str:
    """Has an argument that is sent as a header too."""
    return region


@server.tool
async def count(to: int, ctx: Context) -> str:
    """Counts and tells its progress."""
    for number in range(1, to + 1):
        await ctx.report_progress(number, to)
    return f"counted to {to}"


@server.tool
async def polled(ctx: Context) -> str:
    """Ends the stream of its answer before it answers."""
    await ctx.close_sse_stream()
    return "resumed"


@server.resource("note://{number}")
def note(number: str) -> str:
    """A note by its number."""
    return f"note {number}"


@server.prompt
def review(code: str) -> str:
    """Reviews code."""
    return f"Review: {code}"


def main():
    transport = sys.argv[1]
    if transport == "stdio":
        server.run(show_banner=False)
        return
    import uvicorn
    if transport == "sse":
        app = server.http_app(transport="sse")
    else:
        app = server.http_app(event_store=EventStore(), retry_interval=40)
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    listener.listen()
    print(listener.getsockname()[1], flush=True)
    uvicorn.Server(uvicorn.Config(app, log_level="warning", lifespan="on")).run(sockets=[listener])


main()
