"""Asks for each answer with the published openai library's Responses, and prints what that understood, one line of JSON
each."""

import json
import os
import sys

os.environ["NO_PROXY"] = "*"

from openai import APIError, OpenAI

base, cases = sys.argv[1], json.load(sys.stdin)
request = {"model": "m", "input": "hello"}


def read(client, stream):
    if not stream:
        return client.responses.create(**request)
    final, words = None, ""
    with client.responses.stream(**request) as events:
        for event in events:
            if event.type == "response.output_text.delta":
                words += event.delta
            elif event.type in ("response.completed", "response.incomplete", "response.failed"):
                final = event.response
    assert words == final.output_text, "the pieces are not the whole"
    return final


def compact(arguments):
    try:
        return json.dumps(json.loads(arguments), separators=(",", ":"), ensure_ascii=False)
    except ValueError:
        return arguments


def tell(response, told):
    told["model"], told["status"] = response.model, response.status
    told["reason"] = response.incomplete_details and response.incomplete_details.reason
    told["error"] = response.error and response.error.message
    for item in response.output:
        if item.type == "message":
            for part in item.content:
                told["text"] += part.text if part.type == "output_text" else ""
                told["refusal"] += part.refusal if part.type == "refusal" else ""
        elif item.type == "reasoning":
            told["reasoning"] += "\n\n".join(part.text for part in item.summary)
        elif item.type == "function_call":
            told["calls"].append(f"{item.call_id} {item.name} {compact(item.arguments)}")
    usage = response.usage
    told["usage"] = usage and [usage.input_tokens, usage.output_tokens]


for case in cases:
    client = OpenAI(base_url=f'{base}/{case["path"]}', api_key="none", max_retries=0)
    told = {"text": "", "refusal": "", "reasoning": "", "calls": [], "usage": None, "error": None}
    try:
        tell(read(client, case["stream"]), told)
    except APIError as error:
        told["error"] = error.message
    print(json.dumps(told))
