"""Asks for each answer with the published openai library, and prints what that understood, one line of JSON each."""

import json
import os
import sys

os.environ["NO_PROXY"] = "*"

from openai import APIError, OpenAI

base, cases = sys.argv[1], json.load(sys.stdin)


def compact(arguments):
    try:
        return json.dumps(json.loads(arguments), separators=(",", ":"), ensure_ascii=False)
    except ValueError:
        return arguments


def extra(message, *names):
    for name in names:
        if getattr(message, name, None):
            return getattr(message, name)
    return ""


def streamed(client, told):
    calls = {}
    request = {"model": "m", "messages": [{"role": "user", "content": "hello"}]}
    for chunk in client.chat.completions.create(stream=True, stream_options={"include_usage": True}, **request):
        told["usage"] = chunk.usage or told["usage"]
        told["model"] = told["model"] or chunk.model
        for choice in chunk.choices or []:
            told["text"] += choice.delta.content or ""
            told["refusal"] += extra(choice.delta, "refusal")
            told["reasoning"] += extra(choice.delta, "reasoning", "reasoning_content")
            told["finish"] = choice.finish_reason or told["finish"]
            for piece in choice.delta.tool_calls or []:
                call = calls.setdefault(piece.index, {"id": "", "name": "", "arguments": ""})
                call["id"] = call["id"] or piece.id
                call["name"] = call["name"] or piece.function.name
                call["arguments"] += piece.function.arguments or ""
    told["calls"] = [f'{call["id"]} {call["name"]} {compact(call["arguments"])}' for call in calls.values()]


def whole(client, told):
    answer = client.chat.completions.create(model="m", messages=[{"role": "user", "content": "hello"}])
    told["usage"], told["model"] = answer.usage, answer.model
    choice = answer.choices[0]
    told["text"] = choice.message.content or ""
    told["refusal"] = choice.message.refusal or ""
    told["reasoning"] = extra(choice.message, "reasoning", "reasoning_content")
    told["finish"] = choice.finish_reason
    for call in choice.message.tool_calls or []:
        told["calls"].append(f"{call.id} {call.function.name} {compact(call.function.arguments)}")


for case in cases:
    client = OpenAI(base_url=f'{base}/{case["path"]}', api_key="none", max_retries=0)
    told = {"text": "", "refusal": "", "reasoning": "", "calls": [], "usage": None, "model": None, "finish": None}
    told["error"] = None
    try:
        (streamed if case["stream"] else whole)(client, told)
    except APIError as error:
        told["error"] = error.message
    usage = told["usage"]
    told["usage"] = usage and [usage.prompt_tokens, usage.completion_tokens]
    print(json.dumps(told))
