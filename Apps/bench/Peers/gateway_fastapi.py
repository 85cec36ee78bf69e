"""The gateway's busiest routes written with FastAPI, on uvicorn with uvloop and httptools in one process.

There are two kinds of streams: /v1/streams/framework with FastAPI's own server-sent events, which send keep-alives when
a stream is silent, and /v1/streams/bare, which passes hand-written strings to StreamingResponse.

Arguments: the database, the token, the frames of a stream, the seconds between two of them. Prints its port.
"""
import asyncio
import secrets
import socket
import sqlite3
import sys
import time
import uuid
from typing import Annotated, AsyncIterable

import uvicorn
import uvloop
from fastapi import Depends, FastAPI, Header, HTTPException
from fastapi.responses import StreamingResponse
from fastapi.sse import EventSourceResponse, ServerSentEvent
from pydantic import BaseModel, ConfigDict
from pydantic_core import to_json

DATABASE, TOKEN, FRAMES, PAUSE = sys.argv[1], sys.argv[2], int(sys.argv[3]), float(sys.argv[4])
STARTED = int(time.time())
MODEL = "martlet/martlet-offline"


class Health(BaseModel):
    status: str
    ok: bool
    version: str
    active_sessions: int
    uptime_seconds: int


class Model(BaseModel):
    id: str
    object: str = "model"
    type: str = "model"
    created: int
    created_at: str
    owned_by: str
    display_name: str


class Models(BaseModel):
    object: str = "list"
    data: list[Model]
    has_more: bool = False
    first_id: str
    last_id: str


class Message(BaseModel):
    role: str
    content: str


class Request(BaseModel):
    model_config = ConfigDict(extra="allow")
    model: str | None = None
    messages: list[Message]


class Choice(BaseModel):
    index: int = 0
    message: Message
    finish_reason: str = "stop"


class Usage(BaseModel):
    prompt_tokens: int
    completion_tokens: int
    total_tokens: int
    input_tokens: int
    output_tokens: int
    total_cost: float


class Completion(BaseModel):
    id: str
    object: str = "chat.completion"
    created: int
    model: str
    choices: list[Choice]
    usage: Usage


database = sqlite3.connect(DATABASE, isolation_level=None)
database.executescript("""
    PRAGMA journal_mode = WAL;
    PRAGMA synchronous = NORMAL;
    CREATE TABLE IF NOT EXISTS usage (
        id INTEGER PRIMARY KEY AUTOINCREMENT, day INTEGER NOT NULL, time INTEGER NOT NULL,
        project TEXT NOT NULL, session TEXT NOT NULL, message INTEGER, provider TEXT NOT NULL,
        model TEXT NOT NULL, input INTEGER, output INTEGER, cached INTEGER, cache_write INTEGER,
        reasoning INTEGER, cost INTEGER) STRICT;
    CREATE INDEX IF NOT EXISTS usage_session ON usage (session);
    CREATE UNIQUE INDEX IF NOT EXISTS usage_message ON usage (message) WHERE message IS NOT NULL;
    CREATE TABLE IF NOT EXISTS usage_days (
        day INTEGER NOT NULL, project TEXT NOT NULL, session TEXT NOT NULL, provider TEXT NOT NULL,
        model TEXT NOT NULL, answers INTEGER NOT NULL, input INTEGER, output INTEGER, cached INTEGER,
        cache_write INTEGER, reasoning INTEGER, cost INTEGER, unpriced INTEGER NOT NULL,
        PRIMARY KEY (day, project, session, provider, model)) STRICT, WITHOUT ROWID;
    CREATE INDEX IF NOT EXISTS usage_days_session ON usage_days (session);
    CREATE INDEX IF NOT EXISTS usage_days_project ON usage_days (project);
""")


def account(read: int, written: int) -> None:
    """Commits the usage of an answer, as a row and in the daily sum. Done inline, since the loop has one thread."""
    now = time.time()
    day = int(now // 86_400)
    database.execute("BEGIN IMMEDIATE")
    database.execute(
        "INSERT INTO usage (day, time, project, session, provider, model, input, output, cost)"
        " VALUES (?, ?, '', '', 'martlet', 'martlet-offline', ?, ?, 0)", (day, int(now * 1e6), read, written))
    database.execute(
        "INSERT INTO usage_days VALUES (?, '', '', 'martlet', 'martlet-offline', 1, ?, ?, NULL, NULL, NULL, 0, 0)"
        " ON CONFLICT DO UPDATE SET answers = answers + 1, input = input + excluded.input,"
        " output = output + excluded.output, cost = cost + excluded.cost", (day, read, written))
    database.execute("COMMIT")


async def known(authorization: Annotated[str | None, Header()] = None) -> None:
    if authorization is None or not secrets.compare_digest(authorization, f"Bearer {TOKEN}"):
        raise HTTPException(401, "a valid credential is needed")


application = FastAPI()


@application.get("/health")
async def health() -> Health:
    return Health(
        status="healthy", ok=True, version="1.0.0", active_sessions=0, uptime_seconds=int(time.time()) - STARTED)


@application.get("/v1/models", dependencies=[Depends(known)])
async def models() -> Models:
    model = Model(
        id=MODEL, created=STARTED, created_at="2026-01-01T00:00:00Z", owned_by="martlet",
        display_name="Offline planner, not a language model")
    return Models(data=[model], first_id=MODEL, last_id=MODEL)


@application.post("/v1/chat/completions", dependencies=[Depends(known)])
async def complete(request: Request) -> Completion:
    said = request.messages[-1].content
    text = said.removeprefix("repeat: ")
    read, written = len(said) // 4, len(text) // 4
    account(read, written)
    usage = Usage(
        prompt_tokens=read, completion_tokens=written, total_tokens=read + written, input_tokens=read,
        output_tokens=written, total_cost=0)
    return Completion(
        id=f"chatcmpl-{uuid.uuid4().hex}", created=int(time.time()), model=MODEL,
        choices=[Choice(message=Message(role="assistant", content=text))], usage=usage)


class Delta(BaseModel):
    role: str | None = None
    content: str | None = None


class ChunkChoice(BaseModel):
    index: int = 0
    delta: Delta
    finish_reason: str | None = None


class Chunk(BaseModel):
    id: str
    object: str = "chat.completion.chunk"
    created: int
    model: str
    choices: list[ChunkChoice]


# One timer for all streams, so that pauses cost as little as possible.
pulse = asyncio.Event()


async def beat() -> None:
    while True:
        await asyncio.sleep(PAUSE)
        pulse.set()
        pulse.clear()


@application.post("/v1/streams/framework", dependencies=[Depends(known)], response_class=EventSourceResponse)
async def stream(request: Request) -> AsyncIterable[ServerSentEvent]:
    name, created = f"chatcmpl-{uuid.uuid4().hex}", int(time.time())

    def chunk(delta: Delta, finish: str | None = None) -> ServerSentEvent:
        choice = ChunkChoice(delta=delta, finish_reason=finish)
        return ServerSentEvent(data=Chunk(id=name, created=created, model=MODEL, choices=[choice]))

    yield chunk(Delta(role="assistant", content=""))
    for number in range(FRAMES):
        await pulse.wait()
        yield chunk(Delta(content=f"word{number} "))
    account(len(request.messages[-1].content) // 4, 2 * FRAMES)
    yield chunk(Delta(), "stop")
    yield ServerSentEvent(raw_data="[DONE]")


@application.post("/v1/streams/bare", dependencies=[Depends(known)])
async def bare_stream(request: Request) -> StreamingResponse:
    return StreamingResponse(chunks(request), media_type="text/event-stream", headers={"Cache-Control": "no-cache"})


async def chunks(request: Request) -> AsyncIterable[bytes]:
    name, created = f"chatcmpl-{uuid.uuid4().hex}", int(time.time())

    def chunk(delta: dict, finish: str | None = None) -> bytes:
        return b"data: " + to_json({
            "id": name, "object": "chat.completion.chunk", "created": created, "model": MODEL,
            "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}) + b"\n\n"

    yield chunk({"role": "assistant", "content": ""})
    for number in range(FRAMES):
        await pulse.wait()
        yield chunk({"content": f"word{number} "})
    account(len(request.messages[-1].content) // 4, 2 * FRAMES)
    yield chunk({}, "stop")
    yield b"data: [DONE]\n\n"


async def serve() -> None:
    pacing = asyncio.create_task(beat())
    await uvicorn.Server(configuration).serve(sockets=[listener])
    pacing.cancel()


# The protocol is explicit, since uvloop sets TCP_NODELAY only on sockets that name TCP.
listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
listener.bind(("127.0.0.1", 0))
listener.listen(4096)
print(listener.getsockname()[1], flush=True)
configuration = uvicorn.Config(
    application, loop="uvloop", http="httptools", lifespan="off", log_level="critical", access_log=False)
uvloop.run(serve())
