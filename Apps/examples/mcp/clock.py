#!/usr/bin/env python3
"""A small MCP server without any library, to try `martlet mcp` with."""
import datetime
import json
import sys

TOOLS = {
    "today": {
        "description": "Tells today's date.",
        "inputSchema": {"type": "object", "properties": {}},
        "annotations": {"readOnlyHint": True},
    },
    "add_days": {
        "description": "Adds days to a date.",
        "inputSchema": {
            "type": "object",
            "properties": {
                "date": {"type": "string", "description": "The date, as 2026-11-26"},
                "days": {"type": "integer", "description": "How many days later; negative for earlier"},
            },
            "required": ["date", "days"],
        },
        "annotations": {"readOnlyHint": True},
    },
}


def call(name, arguments):
    if name == "today":
        return datetime.date.today().isoformat()
    date = datetime.date.fromisoformat(arguments["date"])
    return (date + datetime.timedelta(days=arguments["days"])).isoformat()


def answer(method, params):
    if method == "initialize":
        return {
            "protocolVersion": params["protocolVersion"],
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "clock", "version": "1.0"},
        }
    if method == "tools/list":
        return {"tools": [{"name": name, **tool} for name, tool in TOOLS.items()]}
    if method == "tools/call" and params["name"] in TOOLS:
        try:
            return {"content": [{"type": "text", "text": call(params["name"], params.get("arguments", {}))}]}
        except ValueError as error:
            return {"content": [{"type": "text", "text": str(error)}], "isError": True}
    return {} if method == "ping" else None


for line in sys.stdin:
    request = json.loads(line)
    if "id" not in request:
        continue
    result = answer(request["method"], request.get("params", {}))
    reply = {"jsonrpc": "2.0", "id": request["id"]}
    if result is None:
        reply["error"] = {"code": -32601, "message": f"{request['method']} is not known"}
    else:
        reply["result"] = result
    print(json.dumps(reply), flush=True)
