"""botocore judges the Bedrock wire: its types accept our requests and it would send the same bytes, and
it reads random event streams, and damaged ones, as we do. There is no vendor's accumulator: joining the
events is a dozen lines here."""
import base64, http.server, json, os, random, struct, subprocess, threading, zlib

import botocore.session
from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials
from botocore.eventstream import EventStreamBuffer
from botocore.parsers import EventStreamJSONParser
from botocore.serialize import create_serializer
from botocore.validate import ParamValidator

MODEL = botocore.session.get_session().get_service_model("bedrock-runtime")


def decoded(value, shape):
    """Our JSON as a caller of botocore writes it: bytes are bytes."""
    if shape.type_name == "structure" and not getattr(shape, "is_document_type", False):
        return {key: decoded(item, shape.members[key]) if key in shape.members else item for key, item in value.items()}
    if shape.type_name == "list": return [decoded(item, shape.member) for item in value]
    if shape.type_name == "blob": return base64.b64decode(value)
    return value


def judge(body):
    """What is wrong with a request, if anything."""
    for operation in ("ConverseStream", "Converse"):
        operation = MODEL.operation_model(operation)
        params = {"modelId": "anthropic.x", **decoded(body, operation.input_shape)}
        report = ParamValidator().validate(params, operation.input_shape)
        unknown = set(params) - set(operation.input_shape.members)
        if report.has_errors() or unknown: return report.generate_report() or f"unknown: {unknown}"
        sent = json.loads(create_serializer("rest-json").serialize_to_request(params, operation)["body"])
        if sent != body: return f"botocore would send {json.dumps(sent)}"
    return lint(body)


def lint(body):
    """Documented rules that types cannot say."""
    roles = [message["role"] for message in body["messages"]]
    if any(a == b for a, b in zip(roles, roles[1:])): return "roles do not alternate"
    if roles[0] != "user": return "the user does not begin"
    if str(body).count("cachePoint") > 4: return "more than four cache points"
    open_calls = []
    for message in body["messages"]:
        results = [block["toolResult"]["toolUseId"] for block in message["content"] if "toolResult" in block]
        if results != open_calls: return f"calls {open_calls} are answered by {results}"
        if any("toolResult" not in block for block in message["content"][:len(results)]): return "results do not come first"
        open_calls = [block["toolUse"]["toolUseId"] for block in message["content"] if "toolUse" in block]
        if not message["content"] or any(not block.get("text", "x").strip() for block in message["content"]): return "blank content"
    if "toolUse" in str(body["messages"]) and "toolConfig" not in body: return "calls without toolConfig"
    return None


def frame(name, payload, kind="event"):
    block = b""
    for key, value in ((f":{kind}-type", name), (":content-type", "application/json"), (":message-type", kind)):
        block += bytes([len(key)]) + key.encode() + b"\x07" + struct.pack(">H", len(value)) + value.encode()
    data = json.dumps(payload, ensure_ascii=random.random() < 0.5).encode()
    prelude = struct.pack(">II", 16 + len(block) + len(data), len(block))
    message = prelude + struct.pack(">I", zlib.crc32(prelude)) + block + data
    return message + struct.pack(">I", zlib.crc32(message))


def words(rng): return "".join(rng.choice(["a", " ", "ü", "🤔", "\"", "\\", "\n", "{"]) for _ in range(rng.randint(1, 12)))


def reply(rng):
    """The bytes of a random reply, damaged now and then."""
    frames, index = [frame("messageStart", {"role": "assistant"})], 0
    for kind in rng.choices(["text", "thought", "call"], k=rng.randint(1, 5)):
        place = {"contentBlockIndex": index}
        if kind == "call":
            frames.append(frame("contentBlockStart", {**place, "start": {"toolUse": {"toolUseId": f"t{index}", "name": "look"}}}))
            text = rng.choice(["", "{}", json.dumps({words(rng): words(rng)}), json.dumps({"n": 12345678901234567890})])
        else: text = words(rng) * rng.randint(1, 4)
        while text:
            size = rng.randint(1, 9)
            piece, text = text[:size], text[size:]
            delta = {"call": {"toolUse": {"input": piece}}, "text": {"text": piece}, "thought": {"reasoningContent": {"text": piece}}}[kind]
            frames.append(frame("contentBlockDelta", {**place, "delta": delta}))
        if kind == "thought": frames.append(frame("contentBlockDelta", {**place, "delta": {"reasoningContent": {"signature": "c2ln"}}}))
        frames.append(frame("contentBlockStop", place))
        index += 1
    if rng.random() < 0.1: return b"".join(frames) + frame("throttlingException", {"message": "slow down"}, "exception")
    frames.append(frame("messageStop", {"stopReason": "tool_use" if "call" in kind else "end_turn"}))
    frames.append(frame("metadata", {"usage": {"inputTokens": 5, "outputTokens": 7, "totalTokens": 12}, "metrics": {"latencyMs": 3}}))
    data = bytearray(b"".join(frames))
    if rng.random() < 0.2: data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
    return bytes(data)


def read(data):
    """A reply as botocore reads it."""
    shape = MODEL.operation_model("ConverseStream").output_shape.members["stream"]
    parser, buffer = EventStreamJSONParser(), EventStreamBuffer()
    out = {"text": "", "reasoning": "", "calls": {}, "stop": None, "usage": None, "error": False}
    try:
        buffer.add_data(data)
        for message in buffer:
            event = parser.parse(message.to_response_dict(), shape)
            if "Error" in event: out["error"] = True; break
            index = event.get("contentBlockStart", event.get("contentBlockDelta", {})).get("contentBlockIndex")
            start = event.get("contentBlockStart", {}).get("start", {}).get("toolUse")
            if start: out["calls"][index] = [start["toolUseId"], start["name"], ""]
            delta = event.get("contentBlockDelta", {}).get("delta", {})
            out["text"] += delta.get("text", "")
            out["reasoning"] += delta.get("reasoningContent", {}).get("text", "")
            if "toolUse" in delta: out["calls"][index][2] += delta["toolUse"]["input"]
            if "messageStop" in event: out["stop"] = event["messageStop"]["stopReason"]
            if "metadata" in event: out["usage"] = event["metadata"]["usage"]["inputTokens"], event["metadata"]["usage"]["outputTokens"]
    except Exception: out["error"] = True
    if out["stop"] is None: out["error"] = True
    out["calls"] = [(i, n, a) for i, n, a in out["calls"].values()]
    return out


def differences(ours, theirs):
    if theirs["error"]: return [] if ours["error"] else ["botocore refuses what we accept"]
    usage = ours["usage"] or {}
    mine = {"text": ours["text"], "reasoning": ours["reasoning"], "stop": ours["stop"]["raw"], "error": ours["error"] is not None,
            "calls": [(c["id"], c["name"], c["arguments_text"]) for c in ours["tool_calls"]], "usage": (usage.get("input"), usage.get("output"))}
    return [f"{key}: {mine[key]!r}, botocore says {theirs[key]!r}" for key in theirs if mine[key] != theirs[key]]


class Listener(http.server.BaseHTTPRequestHandler):
    """Keeps a request as it came, and refuses it."""
    seen = None

    def do_POST(self):
        body = self.rfile.read(int(self.headers["content-length"]))
        type(self).seen = (self.path, dict((key.lower(), value) for key, value in self.headers.items()), body)
        self.send_response(400)
        self.send_header("content-length", "0")
        self.end_headers()

    def log_message(self, *_): pass


def signature(url, region, credentials, headers, body):
    """What botocore would send as the authorization of a request at its own time."""
    signed = {name: headers[name] for name in ("content-type", "x-amz-date", "x-amz-security-token") if name in headers}
    request = AWSRequest(method="POST", url=url, data=body, headers=signed)
    request.context["timestamp"] = headers["x-amz-date"]
    auth = SigV4Auth(credentials, "bedrock", region)
    text = auth.string_to_sign(request, auth.canonical_request(request))
    names = auth.signed_headers(auth.headers_to_sign(request))
    return f"AWS4-HMAC-SHA256 Credential={auth.scope(request)}, SignedHeaders={names}, Signature={auth.signature(text, request)}"


def signatures(binary, rounds, seed):
    """Requests that `signed` sends over a socket carry botocore's signatures."""
    server = http.server.HTTPServer(("127.0.0.1", 0), Listener)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    base, problems = f"http://127.0.0.1:{server.server_port}", []
    for number in range(rounds):
        rng = random.Random(f"{seed}/signed/{number}")
        region = rng.choice(["us-east-1", "eu-central-2", "us-gov-west-1"])
        model = "anthropic." + "".join(rng.choice("abz09-_.:/~ü%@+ =") for _ in range(rng.randint(1, 20)))
        token = rng.choice([None, "session/token==" + "x" * rng.randint(0, 50)])
        key, secret = f"AKID{rng.randrange(10**9)}", base64.b64encode(rng.randbytes(30)).decode()
        env = {**os.environ, "AWS_ACCESS_KEY_ID": key, "AWS_SECRET_ACCESS_KEY": secret, "AWS_SESSION_TOKEN": token or ""}
        subprocess.run([binary, base, region, model, words(rng) + "?"], env=env, capture_output=True)
        if Listener.seen is None: return [f"nothing came from {binary}"], ""
        path, headers, body = Listener.seen
        theirs = signature(base + path, region, Credentials(key, secret, token), headers, body)
        if headers.get("authorization") != theirs: problems.append(f"signed/{number}, seed {seed}: {path}\nours:     {headers.get('authorization')}\nbotocore: {theirs}")
        Listener.seen = None
    server.shutdown()
    return problems, f"{rounds} Bedrock requests signed as botocore signs them"
