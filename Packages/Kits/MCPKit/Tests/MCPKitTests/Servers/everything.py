"""A server that uses everything of the protocol, with the reference SDK of either era.

Arguments: the transport (stdio, http, sse). The last two print the port as the first line.
"""
import asyncio
import socket
import sys
from typing import Annotated

from pydantic import BaseModel, Field

try:
    from mcp.server.mcpserver import Context, Image, MCPServer
    from mcp_types import AudioContent, CallToolResult, ImageContent, ResourceLink, TextContent
    from mcp_types import EmbeddedResource, TextResourceContents
    MODERN = True
except ImportError:
    from mcp.server.fastmcp import Context, FastMCP as MCPServer
    from mcp.types import AudioContent, CallToolResult, ImageContent, ResourceLink, TextContent
    from mcp.types import EmbeddedResource, TextResourceContents
    MODERN = False

server = MCPServer("everything", instructions="Use everything.")
PIXEL = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)


class Point(BaseModel):
    x: int
    y: int


class Choice(BaseModel):
    color: str
    count: int = 1


@server.tool()
def add(a: int, b: int) -> int:
    """Adds two numbers."""
    return a + b


@server.tool()
def mirror(point: Point) -> Point:
    """Mirrors a point."""
    return Point(x=point.y, y=point.x)


@server.tool()
def fail(reason: str) -> str:
    """Fails for a reason."""
    raise ValueError(reason)


@server.tool(structured_output=False)
def parts() -> CallToolResult:
    """Gives one part of each kind."""
    return CallToolResult(
        content=[
            TextContent(type="text", text="a text"),
            ImageContent(type="image", data=PIXEL, mimeType="image/png")
            if not MODERN else ImageContent(type="image", data=PIXEL, mime_type="image/png"),
            AudioContent(type="audio", data="UklGRg==", mimeType="audio/wav")
            if not MODERN else AudioContent(type="audio", data="UklGRg==", mime_type="audio/wav"),
            ResourceLink(type="resource_link", uri="file:///etc/passwd", name="passwords"),
            EmbeddedResource(
                type="resource", resource=TextResourceContents(uri="note://1", text="a note")),
        ])


@server.tool()
async def count(to: int, ctx: Context) -> str:
    """Counts and tells its progress."""
    for number in range(1, to + 1):
        await ctx.report_progress(number, to, f"step {number}")
    return f"counted to {to}"


@server.tool()
async def wait(ctx: Context) -> str:
    """Waits until it is cancelled."""
    await asyncio.sleep(600)
    return "too long"


@server.tool()
async def shout(text: str, ctx: Context) -> str:
    """Writes to the log."""
    await ctx.info(text)
    return "done"


@server.tool()
async def choose(ctx: Context) -> str:
    """Asks the person."""
    answer = await ctx.elicit("Which color?", Choice)
    if answer.action != "accept":
        return answer.action
    return f"{answer.data.color} {answer.data.count}"


@server.tool()
def route(
    region: Annotated[str, Field(json_schema_extra={"x-mcp-header": "Region"})],
    count: Annotated[int, Field(json_schema_extra={"x-mcp-header": "Count"})] = 1,
) -> str:
    """Has arguments that are sent as headers too."""
    return f"{region} {count}"


@server.tool()
async def grow(ctx: Context) -> str:
    """Adds a tool."""
    def grown() -> str:
        """Was added."""
        return "grown"
    server.add_tool(grown)
    # The newer SDK tells clients of the legacy era in the old way only.
    if MODERN and ctx.protocol_version >= "2026":
        await ctx.notify_tools_changed()
    else:
        await ctx.session.send_tool_list_changed()
    return "added"


@server.resource("note://{number}")
def note(number: str) -> str:
    """A note by its number."""
    return f"note {number}"


@server.resource("config://all", mime_type="application/json")
def config() -> str:
    """The configuration."""
    return '{"a": 1}'


@server.prompt()
def review(code: str, style: str = "kind") -> str:
    """Reviews code."""
    return f"Review in a {style} way: {code}"


@server.completion()
async def complete(ref, argument, context):
    values = [value for value in ["kind", "kurt", "strict"] if value.startswith(argument.value)]
    try:
        from mcp_types import Completion
    except ImportError:
        from mcp.types import Completion
    return Completion(values=values)


def main():
    transport = sys.argv[1] if len(sys.argv) > 1 else "stdio"
    if transport == "stdio":
        server.run()
        return
    import uvicorn
    app = server.sse_app() if transport == "sse" else server.streamable_http_app()
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    # From now on clients can connect, and wait until the server is ready.
    listener.listen()
    print(listener.getsockname()[1], flush=True)
    uvicorn.Server(uvicorn.Config(app, log_level="warning", lifespan="on")).run(sockets=[listener])


main()
