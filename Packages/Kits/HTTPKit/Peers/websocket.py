"""The server side of the WebSocket tests: one port with the websockets package, one with raw bytes.

Prints both ports, a line each, and ends with its standard input.
"""

import asyncio
import base64
import hashlib
import json
import socket
import struct
import sys
from urllib.parse import parse_qs, unquote, urlsplit

from websockets.asyncio.server import serve
from websockets.exceptions import ConnectionClosed

# What clients of the raw port sent, by the id in the address.
seen = {}
waiting = {}


def options(path):
    parts = urlsplit(path)
    return parts.path, {name: values[0] for name, values in parse_qs(parts.query, keep_blank_values=True).items()}


def note(number, value):
    seen[number] = value
    waiting.setdefault(number, asyncio.Event()).set()


async def echo(connection, arguments):
    count = int(arguments.get("fragments", 1))
    async for message in connection:
        if count == 1:
            await connection.send(message)
            continue
        size = max(1, -(-len(message) // count))
        parts = [message[start : start + size] for start in range(0, len(message), size)] or [message]

        async def fragments():
            for part in parts:
                if "ping" in arguments:
                    await connection.ping()
                yield part

        await connection.send(fragments())


async def handle(connection):
    path, arguments = options(connection.request.path)
    if path == "/echo":
        await echo(connection, arguments)
    elif path == "/close":
        await connection.close(int(arguments["code"]), arguments.get("reason", ""))
    elif path == "/tell":
        # Says afterwards how the client closed.
        try:
            async for _ in connection:
                pass
        finally:
            note(arguments["id"], {"code": connection.close_code, "reason": connection.close_reason})
    elif path == "/log":
        event = waiting.setdefault(arguments["id"], asyncio.Event())
        await event.wait()
        await connection.send(json.dumps(seen[arguments["id"]]))
    elif path == "/ping":
        pong = await connection.ping(b"abc")
        await pong
        await connection.send("ponged")
        await connection.wait_closed()
    elif path == "/flood":
        # Sends until the client makes it wait for a second, and then says how much went out.
        sent = 0
        try:
            while True:
                await asyncio.wait_for(connection.send(b"x" * 65536), 1)
                sent += 65536
        except (asyncio.TimeoutError, ConnectionClosed):
            note(arguments["id"], {"sent": sent})
    elif path == "/deaf":
        # Reads nothing.
        connection.transport.pause_reading()
        await asyncio.sleep(600)
    elif path == "/head":
        await connection.send(json.dumps({"headers": list(connection.request.headers.raw_items()), "path": connection.request.path}))


async def read_frames(reader):
    """What a client sends after the handshake: the code with which it closes, and whether the end was clean."""
    found = {"opcodes": [], "code": None, "masked": True}
    try:
        while True:
            first, second = await reader.readexactly(2)
            length = second & 127
            if length == 126:
                (length,) = struct.unpack("!H", await reader.readexactly(2))
            elif length == 127:
                (length,) = struct.unpack("!Q", await reader.readexactly(8))
            mask = await reader.readexactly(4) if second & 128 else b"\0\0\0\0"
            found["masked"] = found["masked"] and bool(second & 128)
            payload = bytes(byte ^ mask[index % 4] for index, byte in enumerate(await reader.readexactly(length)))
            found["opcodes"].append(first & 15)
            if first & 15 == 8:
                found["code"] = struct.unpack("!H", payload[:2])[0] if payload else 0
    except (asyncio.IncompleteReadError, ConnectionError):
        return found


async def raw(reader, writer):
    try:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        path, arguments = options(head.split(" ")[1])
        key = next(line.split(":", 1)[1].strip() for line in head.split("\r\n") if line.lower().startswith("sec-websocket-key"))
        accept = base64.b64encode(hashlib.sha1((key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11").encode()).digest()).decode()
        agreement = f"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: {accept}\r\n\r\n".encode()
        if path == "/frames":
            # The agreement, then bytes, at once or one by one.
            data = agreement + bytes.fromhex(arguments["hex"])
            if "slow" in arguments:
                # The client may answer and leave before all of it is sent.
                answer = asyncio.create_task(read_frames(reader))
                for index in range(len(data)):
                    if answer.done():
                        break
                    writer.write(data[index : index + 1])
                    await asyncio.sleep(0)
                note(arguments["id"], await answer)
                return
            writer.write(data)
            if arguments.get("then") == "close":
                writer.close()
                return
            if arguments.get("then") == "reset":
                await reader.read(1)
                linger = struct.pack("ii", 1, 0)
                writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
                writer.transport.abort()
                return
            note(arguments["id"], await read_frames(reader))
        elif path == "/answer":
            writer.write(unquote(arguments["text"], "latin-1").replace("ACCEPT", accept).encode("latin-1"))
            await writer.drain()
            if arguments.get("then") == "close":
                writer.close()
                return
            note(arguments["id"], {"rest": (await reader.read()).hex()})
        elif path == "/endless":
            sent = 0
            writer.write(b"HTTP/1.1 101 Switching Protocols\r\n")
            while True:
                line = b"X-Header: " + b"y" * 1000 + b"\r\n"
                writer.write(line)
                sent += len(line)
                await writer.drain()
    except (ConnectionError, asyncio.IncompleteReadError):
        pass
    finally:
        writer.close()


def choose(_, offered):
    return next((name for name in offered if name in ("chat.v2", "chat.v1")), None)


async def main():
    loop = asyncio.get_running_loop()
    stdin = asyncio.StreamReader()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(stdin), sys.stdin)
    options = {"select_subprotocol": choose, "compression": None, "max_size": None, "ping_interval": None}
    async with serve(handle, "127.0.0.1", 0, **options) as server:
        plain = await asyncio.start_server(raw, "127.0.0.1", 0)
        for listener in (server, plain):
            print(listener.sockets[0].getsockname()[1], flush=True)
        await stdin.read()


# What is open then ends with the process.
asyncio.new_event_loop().run_until_complete(main())
