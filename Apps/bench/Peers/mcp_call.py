"""Calls a tool of an MCP server with the reference client, one call after the other; prints the median in nanoseconds.

Arguments: how often, and the program of the server with its arguments.
"""
import asyncio
import statistics
import sys
import time

from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

COUNT, PROGRAM, *ARGUMENTS = sys.argv[1:]


async def main():
    server = stdio_client(StdioServerParameters(command=PROGRAM, args=ARGUMENTS))
    async with Client(server) as client:
        times = []
        for _ in range(int(COUNT)):
            start = time.perf_counter_ns()
            result = await client.call_tool("tool_0", {"a": 1, "b": 2})
            times.append(time.perf_counter_ns() - start)
            assert result.content[0].text == "3"
    print(int(statistics.median(times)))


asyncio.run(main())
