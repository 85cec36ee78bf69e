"""A proxy for tests. Arguments: the user and password it demands as `user:password`, or nothing. Prints its port, then
a line for each request: the method, the target, and whether the credentials were right."""
import asyncio
import base64
import sys

wanted = sys.argv[1] if len(sys.argv) > 1 else ""


async def relay(reader, writer):
    try:
        while block := await reader.read(65536):
            writer.write(block)
            await writer.drain()
    except OSError:
        pass
    finally:
        writer.close()


async def serve(reader, writer):
    try:
        head = await reader.readuntil(b"\r\n\r\n")
        lines = head.decode().split("\r\n")
        method, target, _ = lines[0].split(" ")
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines[1:] if line)}
        given = headers.get("proxy-authorization", "").removeprefix("Basic ")
        allowed = not wanted or base64.b64decode(given).decode() == wanted
        print(method, target, "yes" if allowed else "no", flush=True)
        if not allowed:
            writer.write(b"HTTP/1.1 407 Authentication Required\r\nProxy-Authenticate: Basic realm=lab\r\n"
                         b"Content-Length: 0\r\nConnection: close\r\n\r\n")
            await writer.drain()
            writer.close()
            return
        if method == "CONNECT":
            host, _, port = target.rpartition(":")
            there, back = await asyncio.open_connection(host.strip("[]"), int(port))
            writer.write(b"HTTP/1.1 200 Connected\r\n\r\n")
        else:
            place, _, path = target.removeprefix("http://").partition("/")
            host, _, port = place.rpartition(":")
            there, back = await asyncio.open_connection(host, int(port))
            kept = [line for line in lines[1:] if line and not line.lower().startswith("proxy-")]
            back.write("\r\n".join([f"{method} /{path} HTTP/1.1", "Via: 1.1 lab", *kept, "", ""]).encode())
        await asyncio.gather(relay(reader, back), relay(there, writer))
    except (OSError, asyncio.IncompleteReadError):
        writer.close()


async def main():
    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


asyncio.run(main())
