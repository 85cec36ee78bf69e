"""A client that uses the tasks of the server of the tests over HTTP: FastMCP 2 or the reference SDK of the legacy era, or an
extension of the reference SDK of the modern one, which has no tasks yet.

Arguments: the client (fastmcp, sdk, extension) and the address of the server. Prints what it saw as one JSON object. The
bearer token is `secret`.
"""
import asyncio
import json
import sys

KIND, TARGET = sys.argv[1:3]
HEADERS = {"Authorization": "Bearer secret"}


def texts(result):
    return [part.text for part in result.content]


async def fastmcp():
    from fastmcp import Client
    from fastmcp.client.transports import StreamableHttpTransport
    async with Client(StreamableHttpTransport(TARGET, headers=HEADERS)) as client:
        task = await client.call_tool("must", {}, task=True)
        out = {"immediate": task.returned_immediately, "made": texts(await task.result())}
        out["status"] = (await task.status()).status
        failing = await client.call_tool("fail", {}, task=True)
        try:
            await failing.result()
        except Exception as error:
            out["failed"] = str(error)
        slow = await client.call_tool("slow", {}, task=True)
        out["working"] = (await client.get_task_status(slow.task_id)).status
        await slow.cancel()
        out["cancelled"] = (await client.get_task_status(slow.task_id)).status
        out["listed"] = len((await client.list_tasks())["tasks"])
        return out


async def sdk():
    import httpx
    import mcp.types as types
    from mcp.client.session import ClientSession
    from mcp.client.streamable_http import streamable_http_client

    async def elicit(context, params):
        return types.ElicitResult(action="accept", content={"color": "red"})
    async with httpx.AsyncClient(headers=HEADERS, timeout=60) as http:
        async with streamable_http_client(TARGET, http_client=http) as (read, write, _):
            async with ClientSession(read, write, elicitation_callback=elicit) as session:
                info = await session.initialize()
                out = {"capability": info.capabilities.tasks is not None}
                tasks = session.experimental
                begun = await tasks.call_tool_as_task("ask", {})
                # As the protocol says: who sees that it needs input waits for the result, and is asked meanwhile.
                async for status in tasks.poll_task(begun.task.taskId):
                    if status.status == "input_required":
                        break
                out["asked"] = texts(await tasks.get_task_result(begun.task.taskId, types.CallToolResult))
                slow = await tasks.call_tool_as_task("slow", {})
                out["cancelled"] = (await tasks.cancel_task(slow.task.taskId)).status
                out["listed"] = [one.status for one in (await tasks.list_tasks()).tasks]
                return out


async def extension():
    from typing import Any, Literal

    import httpx2
    from mcp import Client
    from mcp.client.extension import ClientExtension, ResultClaim
    from mcp.client.streamable_http import streamable_http_client
    from mcp_types import CallToolResult, ElicitResult, Request, Result
    from pydantic import BaseModel, ConfigDict, Field

    class Begun(Result):
        result_type: Literal["task"] = Field(alias="resultType")
        task_id: str = Field(alias="taskId")

    class State(Result):
        model_config = ConfigDict(extra="allow")
        status: str

    class Named(BaseModel):
        model_config = ConfigDict(populate_by_name=True)
        task_id: str = Field(alias="taskId")
        input_responses: dict[str, Any] | None = Field(default=None, alias="inputResponses")

    def request(name):
        class TaskRequest(Request[Named, Literal[name]]):
            name_param = "taskId"
            method: Literal[name] = name
            params: Named
        return TaskRequest

    get, update, cancel = request("tasks/get"), request("tasks/update"), request("tasks/cancel")
    statuses = []

    async def resolve(begun, context):
        async def send(kind, **more):
            return await context.session.send_request(kind(params=Named(taskId=begun.task_id, **more)), State)
        if context.tool_name == "slow":
            await context.session.send_request(cancel(params=Named(taskId=begun.task_id)), Result)
        answered = set()
        while True:
            state = (await send(get)).model_dump(by_alias=True)
            if not statuses or statuses[-1] != state["status"]:
                statuses.append(state["status"])
            if state["status"] == "completed":
                return CallToolResult.model_validate(state["result"])
            if state["status"] in ("failed", "cancelled"):
                raise RuntimeError(state["status"])
            answers = {key: {"action": "accept", "content": {"color": "green"}}
                       for key in state.get("inputRequests", {}) if key not in answered}
            if answers:
                answered |= set(answers)
                await context.session.send_request(
                    update(params=Named(taskId=begun.task_id, inputResponses=answers)), Result)
            await asyncio.sleep(state["pollIntervalMs"] / 1000)

    class Tasks(ClientExtension):
        identifier = "io.modelcontextprotocol/tasks"

        def claims(self):
            return [ResultClaim(result_type="task", model=Begun, resolve=resolve)]

    async def elicit(context, params):
        # A task asks by its state; this only says that the person can be asked.
        return ElicitResult(action="decline")
    http = httpx2.AsyncClient(headers=HEADERS, timeout=60)
    async with Client(streamable_http_client(TARGET, http_client=http), extensions=[Tasks()],
                      elicitation_callback=elicit) as client:
        out = {"made": texts(await client.call_tool("must", {})), "asked": texts(await client.call_tool("ask", {}))}
        try:
            await client.call_tool("slow", {})
        except RuntimeError as error:
            out["cancelled"] = str(error)
        out["last"] = statuses[-1]
        return out


print("SEEN " + json.dumps(asyncio.run({"fastmcp": fastmcp, "sdk": sdk, "extension": extension}[KIND]())))
