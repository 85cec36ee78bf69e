"""A WebSocket echo server; prints its port."""
import asyncio

import websockets


async def main():
    async def echo(connection):
        async for message in connection:
            await connection.send(message)

    async with websockets.serve(echo, "127.0.0.1", 0, compression=None, max_size=None) as server:
        print(server.sockets[0].getsockname()[1], flush=True)
        await asyncio.get_running_loop().create_future()


asyncio.run(main())
