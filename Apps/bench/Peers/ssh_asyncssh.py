"""Runs a command on many hosts with asyncssh: port, key, known hosts, user, number of hosts."""
import asyncio
import sys

import asyncssh

port, key, known, user, count = int(sys.argv[1]), sys.argv[2], sys.argv[3], sys.argv[4], int(sys.argv[5])


async def one():
    async with asyncssh.connect(
        '127.0.0.1', port, username=user, client_keys=[key], known_hosts=known, config=None, agent_path=None
    ) as connection:
        done = await connection.run('echo hi', check=True)
        assert done.stdout == 'hi\n'


async def main():
    await asyncio.gather(*(one() for _ in range(count)))


asyncio.run(main())
