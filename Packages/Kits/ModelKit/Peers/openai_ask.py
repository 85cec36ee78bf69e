"""Asks in every way that clients do with the published openai library, and prints what came back, one line each."""

import os
import sys

os.environ["NO_PROXY"] = "*"

from openai import BadRequestError, OpenAI

client = OpenAI(base_url=sys.argv[1], api_key="none", max_retries=0)
complete = client.chat.completions.create

print("models", [(model.id, model.owned_by) for model in client.models.list()])

pixel = "data:image/png;base64,iVBORw0KGgo="
complete(
    model="a",
    messages=[
        {"role": "developer", "content": "Be brief."},
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "What is this?"},
                {"type": "image_url", "image_url": {"url": pixel, "detail": "low"}},
                {"type": "file", "file": {"filename": "a.pdf", "file_data": "data:application/pdf;base64,JVBERg=="}},
            ],
        },
    ],
    temperature=0.5,
    top_p=1,
    max_completion_tokens=100,
    stop="END",
    seed=7,
    reasoning_effort="low",
    user="ada",
    extra_body={"session_id": "s1"},
)

reading = {"type": "object", "properties": {"path": {"type": "string"}}}
complete(
    model="b",
    messages=[
        {"role": "user", "content": "Read both."},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [
                {"id": "c1", "type": "function", "function": {"name": "read", "arguments": '{"path":"a"}'}},
                {"id": "c2", "type": "function", "function": {"name": "read", "arguments": '{"path":'}},
            ],
        },
        {"role": "tool", "tool_call_id": "c1", "content": "text of a"},
        {"role": "tool", "tool_call_id": "c2", "content": [{"type": "text", "text": "bad "}, {"type": "text", "text": "JSON"}]},
    ],
    tools=[{"type": "function", "function": {"name": "read", "description": "Reads a file", "parameters": reading}}],
    tool_choice="auto",
    max_tokens=5,
    stop=["x", "y"],
    response_format={"type": "json_schema", "json_schema": {"name": "answer", "schema": {"type": "object"}}},
)

words = ""
for chunk in complete(
    model="c", messages=[{"role": "user", "content": "hi"}], stream=True, stream_options={"include_usage": True}
):
    words += "".join(choice.delta.content or "" for choice in chunk.choices)
    if chunk.usage:
        words += f" ({chunk.usage.total_tokens} tokens)"
print("streamed", words)

try:
    complete(model="d", messages=[{"role": "user", "content": [{"type": "text", "text": 5}]}])
except BadRequestError as error:
    print("refused", error.status_code, error.type, error.param, error.code)
