"""A server whose calls are tasks: FastMCP's in the legacy era; in the modern one, which no SDK has tasks for, an extension of
the reference SDK. Speaks over stdio."""
import asyncio

try:
    from mcp.server.extension import Extension, MethodBinding
    from mcp.server.mcpserver import MCPServer
    MODERN = True
except ImportError:
    MODERN = False


def legacy():
    from fastmcp import FastMCP
    from fastmcp.server.tasks import TaskConfig
    server = FastMCP("tasks")

    @server.tool(task=TaskConfig(mode="required"))
    async def add(a: int, b: int) -> int:
        """Adds two numbers, later."""
        await asyncio.sleep(0.05)
        return a + b

    @server.tool(task=TaskConfig(mode="required"))
    async def fail() -> str:
        """Fails, later."""
        raise ValueError("because")

    @server.tool(task=TaskConfig(mode="required"))
    async def wait() -> str:
        """Takes too long."""
        await asyncio.sleep(600)
        return "too long"

    server.run(show_banner=False)


def modern():
    from typing import Any

    from pydantic import BaseModel, ConfigDict, Field

    class Named(BaseModel):
        model_config = ConfigDict(extra="allow", populate_by_name=True)
        task_id: str = Field(alias="taskId")
        input_responses: dict[str, Any] = Field(default={}, alias="inputResponses")

    tasks: dict[str, dict] = {}

    class Tasks(Extension):
        identifier = "io.modelcontextprotocol/tasks"

        def methods(self):
            return [
                MethodBinding("tasks/get", Named, self.get), MethodBinding("tasks/update", Named, self.update),
                MethodBinding("tasks/cancel", Named, self.cancel),
            ]

        async def get(self, ctx, params):
            task = tasks[params.task_id]
            task["polls"] += 1
            state = {"resultType": "complete", "taskId": params.task_id, "pollIntervalMs": 20, "ttlMs": None,
                     "createdAt": "2026-01-01T00:00:00Z", "lastUpdatedAt": "2026-01-01T00:00:00Z"}
            name = task["name"]
            if task["cancelled"]:
                return state | {"status": "cancelled"}
            if task["polls"] < 3 or name == "wait":
                return state | {"status": "working", "statusMessage": f"poll {task['polls']}"}
            if name == "ask" and task["answer"] is None:
                question = {"method": "elicitation/create", "params": {
                    "mode": "form", "message": "Which?", "requestedSchema": {"type": "object", "properties": {}}}}
                return state | {"status": "input_required", "inputRequests": {"q": question}}
            if name == "fail":
                return state | {"status": "failed", "error": {"code": -32603, "message": "because"}}
            text = "done" if name != "ask" else str(task["answer"]["content"]["color"])
            return state | {
                "status": "completed", "result": {"content": [{"type": "text", "text": text}], "resultType": "complete"}}

        async def update(self, ctx, params):
            tasks[params.task_id]["answer"] = params.input_responses["q"]
            return {"resultType": "complete"}

        async def cancel(self, ctx, params):
            tasks[params.task_id]["cancelled"] = True
            return {"resultType": "complete"}

        async def intercept_tool_call(self, params, ctx, call_next):
            if params.name == "cancelled":
                return await call_next(ctx)
            task = f"t{len(tasks)}"
            tasks[task] = {"name": params.name, "polls": 0, "answer": None, "cancelled": False}
            return {"resultType": "task", "taskId": task, "status": "working", "pollIntervalMs": 20, "ttlMs": None,
                    "createdAt": "2026-01-01T00:00:00Z", "lastUpdatedAt": "2026-01-01T00:00:00Z"}

    server = MCPServer("tasks", extensions=[Tasks()])

    @server.tool()
    def add() -> str:
        """Is done later."""
        return "never"

    @server.tool()
    def ask() -> str:
        """Asks the person in between."""
        return "never"

    @server.tool()
    def fail() -> str:
        """Fails, later."""
        return "never"

    @server.tool()
    def wait() -> str:
        """Takes too long."""
        return "never"

    @server.tool()
    def cancelled() -> int:
        """How many tasks were cancelled."""
        return sum(task["cancelled"] for task in tasks.values())

    server.run()


modern() if MODERN else legacy()
