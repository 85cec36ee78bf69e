"""Asks for each answer with the published anthropic library, and prints what that understood, one line of JSON each."""

import json
import os
import sys

os.environ["NO_PROXY"] = "*"

from anthropic import Anthropic, APIError

base, cases = sys.argv[1], json.load(sys.stdin)
request = {"model": "m", "max_tokens": 100, "messages": [{"role": "user", "content": "hello"}]}


def read(client, stream):
    if not stream:
        return client.messages.create(**request)
    with client.messages.stream(**request) as answer:
        return answer.get_final_message()


def tell(message, told):
    told["model"], told["finish"] = message.model, message.stop_reason
    for block in message.content:
        if block.type == "text":
            told["text"] += block.text
        elif block.type == "thinking":
            told["reasoning"] += block.thinking
            told["proofs"] += [block.signature] if block.signature else []
        elif block.type == "redacted_thinking":
            told["proofs"].append(block.data)
        elif block.type in ("tool_use", "server_tool_use"):
            arguments = json.dumps(block.input, separators=(",", ":"), ensure_ascii=False)
            told["calls"].append(f"{block.id} {block.name} {arguments}")
    usage = message.usage
    cache = (usage.cache_creation_input_tokens or 0) + (usage.cache_read_input_tokens or 0)
    told["usage"] = [usage.input_tokens + cache, usage.output_tokens]


for case in cases:
    client = Anthropic(base_url=f'{base}/{case["path"]}', api_key="none", max_retries=0)
    told = {"text": "", "reasoning": "", "proofs": [], "calls": [], "usage": None, "model": None, "finish": None}
    told["error"] = None
    try:
        tell(read(client, case["stream"]), told)
    except APIError as error:
        told["error"] = error.body["error"]["message"] if isinstance(error.body, dict) else error.message
    print(json.dumps(told))
