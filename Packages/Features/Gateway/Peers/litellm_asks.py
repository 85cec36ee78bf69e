"""LiteLLM at a gateway, in both dialects: base address, token."""

import os
import sys

os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
os.environ["NO_PROXY"] = "*"
import litellm

litellm.suppress_debug_info = True
base, token = sys.argv[1:]
weather = {"type": "function", "function": {"name": "weather", "parameters": {"type": "object"}}}

for dialect, address in ("openai", base + "/v1"), ("anthropic", base):

    def ask(words, model="test/echo", **more):
        return litellm.completion(
            model=f"{dialect}/{model}", api_base=address, api_key=token, num_retries=0, max_tokens=50,
            messages=[{"role": "user", "content": words}], **more)

    answer = ask("hello")
    print(dialect, answer.choices[0].message.content, answer.choices[0].finish_reason, answer.usage.completion_tokens)
    pieces = ask("hello", "test/many", stream=True)
    text = "".join(piece.choices[0].delta.content or "" for piece in pieces if piece.choices)
    print(dialect, "stream", text.split() == [str(number) for number in range(100)])
    answer = ask('weather {"city":"Bern"}', "test/caller", tools=[weather]).choices[0]
    call = answer.message.tool_calls[0].function
    print(dialect, "call", answer.finish_reason, call.name, call.arguments.replace(" ", ""))
    for model in "none", "test/busy":
        try:
            ask("hello", model)
        except litellm.exceptions.APIError as error:
            print(dialect, model, type(error).__name__)
        except Exception as error:
            print(dialect, model, type(error).__name__)
