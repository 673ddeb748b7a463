"""The official Python SDK doing the work of `client drive`: <place> <work> <in flight> <ms>."""

import json
import os
import resource
import sys
import time

import anyio
from mcp import Client, StdioServerParameters


async def echo(client):
    result = await client.call_tool("echo", {"text": "hello"})
    assert result.content[0].text == "hello"


async def listed(client):
    assert len((await client.list_tools()).tools) == 1000


async def big(client):
    result = await client.call_tool("big", {})
    assert len(result.content[0].text) > 1_000_000


def mapped():
    """What of the memory is mapped from files: the program itself."""
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("RssFile:"))


async def keep_going(client, call, in_flight, seconds):
    took = []
    until = time.perf_counter() + seconds

    async def caller():
        now = time.perf_counter()
        while now < until:
            await call(client)
            then, now = now, time.perf_counter()
            took.append(now - then)

    async with anyio.create_task_group() as group:
        for _ in range(in_flight):
            group.start_soon(caller)
    return sorted(took)


async def main(place, work, in_flight, milliseconds):
    if place == "stdio":
        place = StdioServerParameters(command=os.environ["BENCH_SERVER"], args=["serve", "stdio"])
    call = {"echo": echo, "list": listed, "big": big}[work]
    seconds = int(milliseconds) / 1000
    async with Client(place, mode="legacy", cache=None) as client:
        await keep_going(client, call, int(in_flight), seconds / 4)
        start, cpu = time.perf_counter(), time.process_time()
        took = await keep_going(client, call, int(in_flight), seconds)
        passed, cpu = time.perf_counter() - start, time.process_time() - cpu
        report = {
            "per_second": len(took) / passed,
            "p50": took[len(took) // 2] * 1e6,
            "p99": took[len(took) * 99 // 100] * 1e6,
            "cpu": cpu * 1e6 / len(took),
            "memory": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss,
            "own": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - mapped(),
        }
        print(json.dumps(report), flush=True)
        os._exit(0)


anyio.run(main, *sys.argv[1:])
