"""A client that uses everything of the server of the tests, with the reference SDK or FastMCP of either era.

Arguments: the client (sdk, fastmcp), the mode (auto, legacy), and the program of the server or its address. With `cut:`
before the address, the connection breaks once in the middle of an answer.
Prints what it saw as one JSON object. The bearer token is `secret`.
"""
import asyncio
import contextlib
import json
import sys

import anyio

KIND, MODE, TARGET = sys.argv[1:4]
HEADERS = {"Authorization": "Bearer secret"}
try:
    import mcp_types as types
    from mcp import Client
    MODERN = True
except ImportError:
    import mcp.types as types
    MODERN = False

seen = {"changes": [], "logs": [], "questions": []}
news = asyncio.Condition()


def field(value, camel, snake):
    return getattr(value, snake if MODERN else camel)


async def note(kind, value):
    async with news:
        seen[kind].append(value)
        news.notify_all()


async def until(kind, value, limit=20):
    async with news:
        await asyncio.wait_for(news.wait_for(lambda: value in seen[kind]), limit)


def reply(params):
    if getattr(params, "mode", "form") == "url":
        return types.ElicitResult(action="accept")
    values = {"color": "red"} if "color" in params.message else {"count": 3}
    return types.ElicitResult(action="accept", content=values)


async def elicit(context, params):
    await note("questions", params.message)
    return reply(params)


async def elicit_fastmcp(message, response_type, params, context):
    await note("questions", message)
    answer = reply(params)
    if KIND == "fastmcp":
        from fastmcp.client.elicitation import ElicitResult
        return ElicitResult(action="accept", content=answer.content)
    return answer


async def sample(context, params):
    text = params.messages[0].content
    return types.CreateMessageResult(
        role="assistant", model="m", content=types.TextContent(type="text", text="said " + text.text))


async def sample_fastmcp(messages, params, context):
    return "said " + messages[0].content.text


async def roots(context):
    return types.ListRootsResult(roots=[types.Root(uri="file:///tmp/here", name="here")])


async def log(params):
    await note("logs", [params.level, params.logger, params.data])


async def hear(message):
    message = getattr(message, "root", message)
    if hasattr(message, "method"):
        uri = getattr(getattr(message, "params", None), "uri", None)
        await note("changes", message.method if uri is None else message.method + " " + str(uri))


def texts(result):
    return [part.text for part in result.content if part.type == "text"]


def result(value):
    return [texts(value), field(value, "structuredContent", "structured_content"),
            bool(field(value, "isError", "is_error"))]


async def failure(call):
    try:
        return result(await call)
    except Exception as error:
        error = getattr(error, "error", error)
        return getattr(error, "code", type(error).__name__)


async def common(session, call, progress):
    """What every client does. `call` calls a tool, `progress` with a function for its progress."""
    out = {}
    out["add"] = result(await call("add", {"a": 2, "b": 3}))
    out["list"] = result(await call("list", {"to": 3}))
    out["fail"] = result(await call("fail", {"reason": "because"}))
    out["unknown"] = await failure(call("nothing", {}))
    out["parts"] = [part.type for part in (await call("parts", {})).content]
    out["who"] = result(await call("who", {}))[0]
    steps = []

    async def step(value, total, message):
        steps.append([value, total, message])
    out["count"] = result(await progress("count", {"to": 3}, step))[0]
    out["steps"] = steps
    out["choose"] = result(await call("choose", {}))[0]
    out["think"] = result(await call("think", {}))[0]
    out["folders"] = result(await call("folders", {}))[0]
    return out


@contextlib.asynccontextmanager
async def sdk_session():
    """A session of the older SDK."""
    from mcp.client.session import ClientSession
    callbacks = dict(sampling_callback=sample, elicitation_callback=elicit, list_roots_callback=roots,
                     logging_callback=log, message_handler=hear)
    if TARGET.startswith("http"):
        import httpx
        from mcp.client.streamable_http import streamable_http_client
        async with httpx.AsyncClient(headers=HEADERS, timeout=60) as http:
            async with streamable_http_client(TARGET, http_client=http) as (read, write, _):
                async with ClientSession(read, write, **callbacks) as session:
                    yield session
    else:
        from mcp.client.stdio import StdioServerParameters, stdio_client
        async with stdio_client(StdioServerParameters(command=TARGET)) as (read, write):
            async with ClientSession(read, write, **callbacks) as session:
                yield session


async def legacy_sdk():
    async with sdk_session() as session:
        info = await session.initialize()
        out = {"version": info.protocolVersion, "name": info.serverInfo.name, "instructions": info.instructions}

        async def progress(name, arguments, step):
            return await session.call_tool(name, arguments, progress_callback=step)
        tools, cursor, pages = [], None, 0
        while True:
            page = await session.list_tools(params=types.PaginatedRequestParams(cursor=cursor))
            tools += [tool.name for tool in page.tools]
            pages, cursor = pages + 1, page.nextCursor
            if cursor is None:
                break
        out["tools"], out["pages"] = len(tools), pages
        out |= await common(session, session.call_tool, progress)
        await session.set_logging_level("info")
        await session.call_tool("shout", {"text": "loud"})
        await until("logs", ["warning", "shouter", "loud"])
        waiting = asyncio.create_task(session.call_tool("wait", {}))
        number = session._request_id
        while session._request_id == number:
            await asyncio.sleep(0)
        await session.send_notification(types.ClientNotification(types.CancelledNotification(
            method="notifications/cancelled", params=types.CancelledNotificationParams(requestId=number))))
        out["resources"] = [str(one.uri) for one in (await session.list_resources()).resources]
        templates = await session.list_resource_templates()
        out["templates"] = [one.uriTemplate for one in templates.resourceTemplates]
        out["read"] = (await session.read_resource("note://7")).contents[0].text
        out["missing"] = await failure(session.read_resource("missing://x"))
        out["prompts"] = [one.name for one in (await session.list_prompts()).prompts]
        prompt = await session.get_prompt("review", {"code": "x", "style": "strict"})
        out["prompt"] = prompt.messages[0].content.text
        reference = types.PromptReference(type="ref/prompt", name="review")
        done = await session.complete(reference, {"name": "style", "value": "k"})
        out["completion"] = done.completion.values
        await session.subscribe_resource("counter://value")
        await session.call_tool("bump", {})
        await until("changes", "notifications/resources/updated counter://value")
        await session.call_tool("grow", {})
        await until("changes", "notifications/tools/list_changed")
        out["grown"] = result(await session.call_tool("grown", {}))[0]
        await session.send_ping()
        waiting.cancel()
        return out


def modern_client():
    callbacks = dict(mode=MODE, sampling_callback=sample, elicitation_callback=elicit, list_roots_callback=roots,
                     logging_callback=log, message_handler=hear, log_level="info", cache=None)
    if TARGET.startswith("http"):
        import httpx2
        from mcp.client.streamable_http import streamable_http_client
        http = httpx2.AsyncClient(headers=HEADERS, timeout=60)
        return Client(streamable_http_client(TARGET, http_client=http), **callbacks)
    from mcp.client.stdio import StdioServerParameters
    return Client(StdioServerParameters(command=TARGET), **callbacks)


async def modern_sdk():
    async with modern_client() as client:
        out = {"version": client.protocol_version, "name": client.server_info.name,
               "instructions": client.instructions}

        async def progress(name, arguments, step):
            return await client.call_tool(name, arguments, progress_callback=step)
        tools, cursor, pages = [], None, 0
        while True:
            page = await client.list_tools(cursor=cursor)
            tools += [tool.name for tool in page.tools]
            pages, cursor = pages + 1, page.next_cursor
            if cursor is None:
                break
        out["tools"], out["pages"] = len(tools), pages
        out |= await common(client, client.call_tool, progress)
        out["region"] = result(await client.call_tool("region", {"region": "süd"}))[0]
        if MODE == "legacy":
            await client.set_logging_level("info")
        # On a busy machine this SDK was seen to pass on nothing of what came together with the answer.
        for attempt in range(3):
            await client.call_tool("shout", {"text": "loud"})
            try:
                await until("logs", ["warning", "shouter", "loud"], 10)
                break
            except asyncio.TimeoutError:
                if attempt == 2:
                    raise
        with anyio.move_on_after(0.3):
            await client.call_tool("wait", {})
        out["resources"] = [str(one.uri) for one in (await client.list_resources()).resources]
        templates = await client.list_resource_templates()
        out["templates"] = [one.uri_template for one in templates.resource_templates]
        out["read"] = (await client.read_resource("note://7")).contents[0].text
        out["missing"] = await failure(client.read_resource("missing://x"))
        out["prompts"] = [one.name for one in (await client.list_prompts()).prompts]
        prompt = await client.get_prompt("review", {"code": "x", "style": "strict"})
        out["prompt"] = prompt.messages[0].content.text
        reference = types.PromptReference(type="ref/prompt", name="review")
        done = await client.complete(reference, {"name": "style", "value": "k"})
        out["completion"] = done.completion.values
        if client.protocol_version >= "2026":
            async with client.listen(tools_list_changed=True, resource_subscriptions=["counter://value"]) as told:
                await client.call_tool("bump", {})
                out["first"] = type(await anext(told)).__name__
                await client.call_tool("grow", {})
                out["second"] = type(await anext(told)).__name__
        else:
            await client.subscribe_resource("counter://value")
            await client.call_tool("bump", {})
            await until("changes", "notifications/resources/updated counter://value")
            await client.call_tool("grow", {})
            await until("changes", "notifications/tools/list_changed")
        out["grown"] = result(await client.call_tool("grown", {}))[0]
        return out


async def fastmcp():
    from fastmcp import Client as FastClient
    from fastmcp.client.transports import StdioTransport, StreamableHttpTransport
    transport = (StreamableHttpTransport(TARGET, headers=HEADERS) if TARGET.startswith("http")
                 else StdioTransport(TARGET, [], keep_alive=False))
    options = dict(elicitation_handler=elicit_fastmcp, sampling_handler=sample_fastmcp,
                   roots=["file:///tmp/here"], log_handler=log, message_handler=hear)
    if MODERN:
        options["mode"] = MODE
    async with FastClient(transport, **options) as client:
        async def call(name, arguments):
            return await client.call_tool_mcp(name, arguments)

        async def progress(name, arguments, step):
            return await client.call_tool_mcp(name, arguments, progress_handler=step)
        out = {"tools": len(await client.list_tools()), "pages": 1}
        out |= await common(client, call, progress)
        out["resources"] = [str(one.uri) for one in await client.list_resources()]
        templates = await client.list_resource_templates()
        out["templates"] = [field(one, "uriTemplate", "uri_template") for one in templates]
        out["read"] = (await client.read_resource("note://7"))[0].text
        out["missing"] = await failure(client.read_resource("missing://x"))
        out["prompts"] = [one.name for one in await client.list_prompts()]
        prompt = await client.get_prompt("review", {"code": "x", "style": "strict"})
        out["prompt"] = prompt.messages[0].content.text
        reference = types.PromptReference(type="ref/prompt", name="review")
        out["completion"] = (await client.complete(reference, {"name": "style", "value": "k"})).values
        await client.call_tool_mcp("grow", {})
        out["grown"] = result(await call("grown", {}))[0]
        return out


async def cut(address):
    """The address of a proxy that closes the connection after the first question to the person."""
    port = int(address.split(":")[2].split("/")[0])
    is_cut = False

    async def pump(reader, writer, watched, others):
        nonlocal is_cut
        with contextlib.suppress(ConnectionError):
            while data := await reader.read(65536):
                writer.write(data)
                await writer.drain()
                if watched and not is_cut and b"Which color?" in data:
                    is_cut = True
                    break
        for other in others:
            other.close()

    async def serve(reader, writer):
        upstream_reader, upstream_writer = await asyncio.open_connection("127.0.0.1", port)
        others = [writer, upstream_writer]
        await asyncio.gather(pump(reader, upstream_writer, False, others),
                             pump(upstream_reader, writer, True, others))
    proxy = await asyncio.start_server(serve, "127.0.0.1", 0)
    return f"http://127.0.0.1:{proxy.sockets[0].getsockname()[1]}/mcp", lambda: is_cut


async def main():
    global TARGET
    was_cut = None
    if TARGET.startswith("cut:"):
        TARGET, was_cut = await cut(TARGET[4:])
    if KIND == "fastmcp":
        out = await fastmcp()
    else:
        out = await (modern_sdk() if MODERN else legacy_sdk())
    out["questions"] = seen["questions"]
    out["cut"] = was_cut() if was_cut else None
    print("SEEN " + json.dumps(out))


asyncio.run(main())
