"""A legacy MCP server as scripts often are: a banner, prints among the messages, no library."""
import json
import os
import sys


def send(message):
    print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)


print("=== banner server, ready ===")
for line in sys.stdin:
    message = json.loads(line)
    method, request_id = message.get("method"), message.get("id")
    if request_id is None:
        continue
    print("handling", method)
    if method == "initialize":
        info = {"name": "banner", "version": "1.0.0"}
        version = message["params"]["protocolVersion"]
        send({"id": request_id, "result": {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": info}})
    elif method == "tools/list":
        send({"id": request_id, "result": {"tools": [{"name": "whoami", "inputSchema": {"type": "object"}}]}})
    elif method == "tools/call":
        about = json.dumps({"uid": os.getuid(), "gid": os.getgid(), "groups": os.getgroups(), "home": os.environ.get("HOME"), "pid": os.getpid()})
        send({"id": request_id, "result": {"content": [{"type": "text", "text": about}]}})
    else:
        send({"id": request_id, "error": {"code": -32601, "message": "no such method"}})
