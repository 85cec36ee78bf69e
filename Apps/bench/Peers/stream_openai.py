"""Streams an answer with the openai client and prints its text: address of the server."""
import sys

import openai

client = openai.OpenAI(base_url=sys.argv[1], api_key="none")
answer = client.chat.completions.create(
    model="gpt-5-mini", messages=[{"role": "user", "content": "Count"}], stream=True)
for chunk in answer:
    if chunk.choices and chunk.choices[0].delta.content:
        sys.stdout.write(chunk.choices[0].delta.content)
