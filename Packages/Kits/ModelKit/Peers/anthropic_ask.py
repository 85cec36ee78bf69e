"""Asks in every way that clients do with the published anthropic library, and prints what came back, one line each."""

import os
import sys

os.environ["NO_PROXY"] = "*"

from anthropic import Anthropic, BadRequestError

client = Anthropic(base_url=sys.argv[1], api_key="none", max_retries=0)
create = client.messages.create

print("models", [(model.id, model.display_name, model.max_input_tokens) for model in client.models.list()])

create(
    model="a",
    max_tokens=100,
    system=[{"type": "text", "text": "Be brief.", "cache_control": {"type": "ephemeral"}}],
    messages=[
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "What is this?"},
                {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo="}},
                {
                    "type": "document",
                    "title": "a.pdf",
                    "source": {"type": "base64", "media_type": "application/pdf", "data": "JVBERg=="},
                },
            ],
        },
    ],
    stop_sequences=["END"],
    thinking={"type": "enabled", "budget_tokens": 4096},
    metadata={"user_id": "ada"},
)

reading = {"type": "object", "properties": {"path": {"type": "string"}}}
create(
    model="b",
    max_tokens=5,
    messages=[
        {"role": "user", "content": "Read both."},
        {
            "role": "assistant",
            "content": [
                {"type": "thinking", "thinking": "hm", "signature": "sig"},
                {"type": "redacted_thinking", "data": "data"},
                {"type": "tool_use", "id": "c1", "name": "read", "input": {"path": "a"}},
            ],
        },
        {
            "role": "user",
            "content": [
                {
                    "type": "tool_result",
                    "tool_use_id": "c1",
                    "is_error": True,
                    "content": [{"type": "text", "text": "no "}, {"type": "text", "text": "file"}],
                },
                {"type": "text", "text": "Go on."},
            ],
        },
    ],
    tools=[{"name": "read", "description": "Reads a file", "input_schema": reading}],
    tool_choice={"type": "auto"},
    extra_body={"temperature": 0.5, "session_id": "s1"},
)

with client.messages.stream(model="c", max_tokens=9, messages=[{"role": "user", "content": "hi"}]) as stream:
    words = "".join(stream.text_stream)
    usage = stream.get_final_message().usage
    print("streamed", words, f"({usage.input_tokens}+{usage.output_tokens} tokens)")

try:
    create(model="d", max_tokens=9, messages=[{"role": "user", "content": [{"type": "text", "text": 5}]}])
except BadRequestError as error:
    print("refused", error.status_code, error.body["error"]["type"], error.body["error"]["message"])
