"""Asks in every way that clients do with the published openai library's Responses, and prints what came back, one line
each."""

import os
import sys

os.environ["NO_PROXY"] = "*"

from openai import BadRequestError, OpenAI

client = OpenAI(base_url=sys.argv[1], api_key="none", max_retries=0)
create = client.responses.create

pixel = "data:image/png;base64,iVBORw0KGgo="
create(
    model="a",
    instructions="Be brief.",
    input=[
        {
            "role": "user",
            "content": [
                {"type": "input_text", "text": "What is this?"},
                {"type": "input_image", "image_url": pixel, "detail": "low"},
                {"type": "input_file", "filename": "a.pdf", "file_data": "data:application/pdf;base64,JVBERg=="},
            ],
        },
    ],
    temperature=0.5,
    top_p=1,
    max_output_tokens=100,
    reasoning={"effort": "low"},
    user="ada",
)

reading = {"type": "object", "properties": {"path": {"type": "string"}}}
create(
    model="b",
    input=[
        {"role": "user", "content": "Read both."},
        {"type": "reasoning", "id": "rs_1", "summary": [{"type": "summary_text", "text": "hm"}], "encrypted_content": "x"},
        {
            "type": "message",
            "id": "msg_1",
            "status": "completed",
            "role": "assistant",
            "content": [{"type": "output_text", "text": "Yes.", "annotations": []}],
        },
        {"type": "function_call", "call_id": "c1", "name": "read", "arguments": '{"path":"a"}'},
        {"type": "function_call_output", "call_id": "c1", "output": "text of a"},
    ],
    tools=[{"type": "function", "name": "read", "description": "Reads a file", "parameters": reading, "strict": False}],
    text={"format": {"type": "json_schema", "name": "answer", "schema": {"type": "object"}, "strict": False}},
    store=False,
    include=["reasoning.encrypted_content"],
)

with client.responses.stream(model="c", input="hi") as stream:
    words = "".join(event.delta for event in stream if event.type == "response.output_text.delta")
    usage = stream.get_final_response().usage
    print("streamed", words, f"({usage.total_tokens} tokens)")

try:
    create(model="d", input=[{"role": "user", "content": [{"type": "input_text", "text": 5}]}])
except BadRequestError as error:
    print("refused", error.status_code, error.type, error.param, error.code)
