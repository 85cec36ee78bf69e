"""LangChain's models of both vendors at a gateway: base address, token."""

import os
import sys

os.environ["NO_PROXY"] = "*"
from langchain_anthropic import ChatAnthropic
from langchain_core.messages import HumanMessage, ToolMessage
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI

base, token = sys.argv[1:]


@tool
def weather(city: str) -> str:
    """The weather of a city."""
    return "sunny"


for name, make in {
    "chat": lambda model: ChatOpenAI(model=model, base_url=base + "/v1", api_key=token, max_retries=0),
    "responses": lambda model: ChatOpenAI(
        model=model, base_url=base + "/v1", api_key=token, max_retries=0, use_responses_api=True),
    "messages": lambda model: ChatAnthropic(model=model, base_url=base, api_key=token, max_retries=0, max_tokens=50),
}.items():
    answer = make("test/echo").invoke("hello")
    print(name, answer.text, answer.usage_metadata["output_tokens"])
    text = "".join(piece.text for piece in make("test/many").stream("hello"))
    print(name, "stream", text.split() == [str(number) for number in range(100)])
    model = make("test/caller").bind_tools([weather])
    messages = [HumanMessage('weather {"city":"Bern"}')]
    messages.append(model.invoke(messages))
    (call,) = messages[-1].tool_calls
    messages.append(ToolMessage(weather.invoke(call["args"]), tool_call_id=call["id"]))
    print(name, "called", call["name"], call["args"], model.invoke(messages).text)
