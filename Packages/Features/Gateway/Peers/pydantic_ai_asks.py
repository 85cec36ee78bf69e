"""Agents of pydantic-ai at a gateway, in all three dialects: base address, token."""

import asyncio
import os
import sys

os.environ["NO_PROXY"] = "*"
from anthropic import AsyncAnthropic
from pydantic_ai import Agent
from pydantic_ai.models.anthropic import AnthropicModel
from pydantic_ai.models.openai import OpenAIChatModel, OpenAIResponsesModel
from pydantic_ai.providers.anthropic import AnthropicProvider
from pydantic_ai.providers.openai import OpenAIProvider

base, token = sys.argv[1:]
openai = OpenAIProvider(base_url=base + "/v1", api_key=token)
anthropic = AnthropicProvider(anthropic_client=AsyncAnthropic(base_url=base, api_key=token, max_retries=0))


async def main():
    for name, make in {
        "chat": lambda model: OpenAIChatModel(model, provider=openai),
        "responses": lambda model: OpenAIResponsesModel(model, provider=openai),
        "messages": lambda model: AnthropicModel(model, provider=anthropic),
    }.items():
        result = await Agent(make("test/echo")).run("hello")
        print(name, result.output)
        async with Agent(make("test/many")).run_stream("hello") as stream:
            text = [piece async for piece in stream.stream_text(delta=True)]
        print(name, "stream", "".join(text).split() == [str(number) for number in range(100)])

        agent, cities = Agent(make("test/caller")), []

        @agent.tool_plain
        def weather(city: str) -> str:
            cities.append(city)
            return "sunny"

        result = await agent.run('weather {"city":"Bern"}')
        print(name, "called", cities, result.output)


asyncio.run(main())
