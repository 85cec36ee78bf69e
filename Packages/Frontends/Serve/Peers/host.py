"""A host that uses what the lab of the tests offers, with the reference SDK or FastMCP of either era.

Arguments: the client (sdk, fastmcp), the mode (auto, legacy), and the address of the server, or its program and the
arguments of that. The bearer token is in the variable TOKEN. Says yes to every question.
Prints what it saw as one JSON object.
"""
import asyncio
import contextlib
import json
import os
import sys

import anyio

KIND, MODE, TARGET = sys.argv[1:4]
ARGUMENTS = sys.argv[4:]
HEADERS = {"Authorization": "Bearer " + os.environ.get("TOKEN", "")}
BOARD = "martlet://screens/lab.board"
try:
    import mcp_types as types
    from mcp import Client
    MODERN = True
except ImportError:
    import mcp.types as types
    MODERN = False

seen = {"changes": [], "questions": []}
news = asyncio.Condition()


def field(value, camel, snake):
    return getattr(value, snake if MODERN else camel)


async def note(kind, value):
    async with news:
        seen[kind].append(value)
        news.notify_all()


def yes(schema):
    if schema.get("type") == "boolean":
        return True
    return schema["enum"][0] if "enum" in schema else "yes"


async def elicit(context, params):
    await note("questions", params.message)
    schema = field(params, "requestedSchema", "requested_schema")
    if not isinstance(schema, dict):
        schema = schema.model_dump(by_alias=True)
    return types.ElicitResult(action="accept", content={"answer": yes(schema["properties"]["answer"])})


async def elicit_fastmcp(message, response_type, params, context):
    answer = await elicit(context, params)
    if KIND == "fastmcp":
        from fastmcp.client.elicitation import ElicitResult
        return ElicitResult(action="accept", content=answer.content)
    return answer


async def hear(message):
    message = getattr(message, "root", message)
    if hasattr(message, "method"):
        uri = getattr(getattr(message, "params", None), "uri", None)
        await note("changes", message.method if uri is None else message.method + " " + str(uri))


def result(value):
    return [[part.text for part in value.content if part.type == "text"],
            field(value, "structuredContent", "structured_content"), bool(field(value, "isError", "is_error"))]


async def failure(call):
    try:
        return result(await call)
    except Exception as error:
        error = getattr(error, "error", error)
        return getattr(error, "code", type(error).__name__)


async def common(tools, call, progress):
    """What every host does. `call` calls a tool, `progress` with a function for its progress."""
    out = {"tools": sorted(tool.name for tool in tools if tool.name.startswith("lab"))}
    add = next(tool for tool in tools if tool.name == "lab_add")
    out["hint"] = field(add.annotations, "readOnlyHint", "read_only_hint")
    out["add"] = result(await call("lab_add", {"a": 2, "b": 3}))
    out["fail"] = result(await call("lab_fail", {}))
    out["wrong"] = result(await call("lab_add", {"a": "x"}))[2]
    out["unknown"] = await failure(call("lab_rights", {}))
    steps = []

    async def step(value, total, message):
        steps.append([value, total, message])
    # On a busy machine the modern SDK was seen to pass on nothing of what came together with the answer.
    for attempt in range(5):
        out["count"] = result(await progress("lab_count", {"to": 3}, step))[0]
        if steps:
            break
    out["steps"] = steps
    out["name"] = result(await call("lab_name", {}))[0]
    out["color"] = result(await call("lab_color", {}))[0]
    out["decisions"] = [result(await call(name, {}))[1]["error"]["code"]
                        for name in ["lab_trust", "lab_approve", "lab_unlock"]]
    many = await asyncio.gather(*[call("lab_add", {"a": number, "b": 0}) for number in range(50)])
    out["many"] = [result(one)[1]["sum"] for one in many] == list(range(50))
    return out


async def bump_until_told(call, told):
    """Changes the board until that was told, since nobody says when the board has begun to be watched."""
    while not told():
        await call("lab_bump", {})
    return True


@contextlib.asynccontextmanager
async def sdk_session():
    """A session of the older SDK."""
    from mcp.client.session import ClientSession
    callbacks = dict(elicitation_callback=elicit, message_handler=hear)
    if TARGET.startswith("http"):
        import httpx
        from mcp.client.streamable_http import streamable_http_client
        async with httpx.AsyncClient(headers=HEADERS, timeout=60) as http:
            async with streamable_http_client(TARGET, http_client=http) as (read, write, _):
                async with ClientSession(read, write, **callbacks) as session:
                    yield session
    else:
        from mcp.client.stdio import StdioServerParameters, stdio_client
        program = StdioServerParameters(command=TARGET, args=ARGUMENTS, env=dict(os.environ))
        async with stdio_client(program) as (read, write):
            async with ClientSession(read, write, **callbacks) as session:
                yield session


async def legacy_sdk():
    async with sdk_session() as session:
        info = await session.initialize()

        async def progress(name, arguments, step):
            return await session.call_tool(name, arguments, progress_callback=step)
        out = {"version": info.protocolVersion, "server": info.serverInfo.name}
        out |= await common((await session.list_tools()).tools, session.call_tool, progress)
        waiting = asyncio.create_task(session.call_tool("lab_wait", {}))
        number = session._request_id
        while session._request_id == number:
            await asyncio.sleep(0)
        await session.send_notification(types.ClientNotification(types.CancelledNotification(
            method="notifications/cancelled", params=types.CancelledNotificationParams(requestId=number))))
        waiting.cancel()
        out["resources"] = [str(one.uri) for one in (await session.list_resources()).resources]
        out["read"] = (await session.read_resource(BOARD)).contents[0].text
        out["missing"] = await failure(session.read_resource("martlet://screens/lab.secrets"))
        await session.subscribe_resource(BOARD)
        out["told"] = await bump_until_told(session.call_tool, lambda: any(BOARD in one for one in seen["changes"]))
        return out


def modern_client():
    callbacks = dict(mode=MODE, elicitation_callback=elicit, message_handler=hear, cache=None)
    if TARGET.startswith("http"):
        import httpx2
        from mcp.client.streamable_http import streamable_http_client
        http = httpx2.AsyncClient(headers=HEADERS, timeout=60)
        return Client(streamable_http_client(TARGET, http_client=http), **callbacks)
    from mcp.client.stdio import StdioServerParameters
    return Client(StdioServerParameters(command=TARGET, args=ARGUMENTS, env=dict(os.environ)), **callbacks)


async def modern_sdk():
    async with modern_client() as client:
        async def progress(name, arguments, step):
            return await client.call_tool(name, arguments, progress_callback=step)
        out = {"version": client.protocol_version, "server": client.server_info.name}
        out |= await common((await client.list_tools()).tools, client.call_tool, progress)
        with anyio.move_on_after(0.3):
            await client.call_tool("lab_wait", {})
        out["resources"] = [str(one.uri) for one in (await client.list_resources()).resources]
        out["read"] = (await client.read_resource(BOARD)).contents[0].text
        out["missing"] = await failure(client.read_resource("martlet://screens/lab.secrets"))
        if client.protocol_version >= "2026":
            async with client.listen(resource_subscriptions=[BOARD]) as told:
                first = asyncio.create_task(anext(told))
                out["told"] = await bump_until_told(client.call_tool, first.done)
                out["first"] = type(await first).__name__
        else:
            await client.subscribe_resource(BOARD)
            out["told"] = await bump_until_told(
                client.call_tool, lambda: any(BOARD in one for one in seen["changes"]))
        return out


async def fastmcp():
    from fastmcp import Client as FastClient
    from fastmcp.client.transports import StdioTransport, StreamableHttpTransport
    transport = (StreamableHttpTransport(TARGET, headers=HEADERS) if TARGET.startswith("http")
                 else StdioTransport(TARGET, ARGUMENTS, env=dict(os.environ), keep_alive=False))
    options = dict(elicitation_handler=elicit_fastmcp, message_handler=hear)
    if MODERN:
        options["mode"] = MODE
    async with FastClient(transport, **options) as client:
        async def call(name, arguments):
            return await client.call_tool_mcp(name, arguments)

        async def progress(name, arguments, step):
            return await client.call_tool_mcp(name, arguments, progress_handler=step)
        out = await common(await client.list_tools(), call, progress)
        out["resources"] = [str(one.uri) for one in await client.list_resources()]
        out["read"] = (await client.read_resource(BOARD))[0].text
        out["missing"] = await failure(client.read_resource("martlet://screens/lab.secrets"))
        return out


async def main():
    if KIND == "fastmcp":
        out = await fastmcp()
    else:
        out = await (modern_sdk() if MODERN else legacy_sdk())
    out["questions"] = seen["questions"]
    print("SEEN " + json.dumps(out))


asyncio.run(main())
