"""The official Python client against our server: `client.py URL|PROGRAM legacy|modern`."""

import json
import sys

import anyio
import mcp_types as types
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client


async def elicit(context, params):
    return types.ElicitResult(action="accept", content={"name": "Ann", "ok": True})


async def roots(context):
    return types.ListRootsResult(roots=[types.Root(uri="file:///tmp")])


async def main(target, era):
    mode = "legacy" if era == "legacy" else "2026-07-28"
    server = target
    if not target.startswith("http"):
        server = stdio_client(StdioServerParameters(command=target))
    out = []
    async with Client(
        server, mode=mode, elicitation_callback=elicit, list_roots_callback=roots
    ) as client:
        tools = (await client.list_tools()).tools
        out.append(["tools", len(tools) > 0])

        async def call(name, arguments=None):
            result = await client.call_tool(name, arguments or {})
            out.append([name, "error" if result.is_error else result.content[0].text])

        if any(tool.name == "add" for tool in tools):
            await call("add", {"a": 2, "b": 3})
        else:
            await call("test_simple_text")
            await call("test_error_handling")
            await call("test_header_parameter", {"region": "é"})
            await call("test_input_required_result_elicitation")
            await call("test_input_required_result_list_roots")
            read = await client.read_resource("test://template/7/data")
            out.append(["resource", read.contents[0].text])
            prompt = await client.get_prompt(
                "test_prompt_with_arguments", {"arg1": "a", "arg2": "b"}
            )
            out.append(["prompt", prompt.messages[0].content.text])
    print(json.dumps(out))


anyio.run(main, *sys.argv[1:])
