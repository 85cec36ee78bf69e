"""The round trips of messages of 64 bytes with the websockets client: address, count; prints the median in seconds."""
import asyncio
import sys
import time

import websockets


async def main(address, count):
    async with websockets.connect(address, compression=None) as connection:
        message = b"x" * 64
        times = []
        for _ in range(count):
            start = time.perf_counter()
            await connection.send(message)
            await connection.recv()
            times.append(time.perf_counter() - start)
        print(sorted(times)[len(times) // 2])


asyncio.run(main(sys.argv[1], int(sys.argv[2])))
