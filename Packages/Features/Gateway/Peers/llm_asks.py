"""The library of the program `llm`, set up for a gateway as its manual says: base address, token, an empty folder."""

import json
import os
import sys

base, token, folder = sys.argv[1:]
os.environ["NO_PROXY"] = "*"
os.environ["LLM_USER_PATH"] = folder
with open(f"{folder}/extra-openai-models.yaml", "w") as file:
    for name in "echo", "many", "caller":
        print(f"- model_id: {name}\n  model_name: test/{name}\n  api_base: {base}/v1", file=file)
        print("  api_key_name: martlet\n  supports_tools: true", file=file)
with open(f"{folder}/keys.json", "w") as file:
    json.dump({"martlet": token}, file)
import llm


def ask(name, words, **more):
    return llm.get_model(name).prompt(words, **more)


def weather(city: str) -> str:
    return "sunny"


print(ask("echo", "hello", stream=False).text())
print("stream", "".join(ask("many", "hello")).split() == [str(number) for number in range(100)])
chain = llm.get_model("caller").chain('weather {"city":"Bern"}', tools=[weather])
print("called", chain.text(), [call.name for response in chain.responses() for call in response.tool_calls()])
