"""A server of one tool, `count`, that writes a line to a file for every call, and takes a while."""

import json
import os
import sys
import time

folder = sys.argv[1]


def line(name, text):
    with open(os.path.join(folder, name), "a") as file:
        file.write(f"{text}\n")


def result(method, params):
    if method == "initialize":
        info = {"name": "counter", "version": "1"}
        return {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": info}
    if method == "tools/list":
        schema = {"type": "object", "properties": {"id": {"type": "string"}}}
        return {"tools": [{"name": "count", "inputSchema": schema}]}
    if method == "tools/call":
        line("calls", params["arguments"]["id"])
        time.sleep(float(params["arguments"].get("seconds", 0)))
        return {"content": [{"type": "text", "text": params["arguments"]["id"]}]}
    return {}


line("pids", os.getpid())
for text in sys.stdin:
    message = json.loads(text)
    if "id" in message:
        reply = {"jsonrpc": "2.0", "id": message["id"]}
        if message["method"] == "server/discover":
            reply["error"] = {"code": -32601, "message": "unknown method"}
        else:
            reply["result"] = result(message["method"], message.get("params") or {})
        print(json.dumps(reply), flush=True)
