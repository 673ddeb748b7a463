"""Random scripts of what a model says, and the bytes they become on each wire."""
import json

WORDS = ["Paris", "naïve", "日本語", "👩‍👩‍👧", "😀", "{", "}", "data: ", "\\", '"', "\n", " ", "a", "\u2028", "</think>", "\t", "é"]
NAMES = ["get_weather", "now", "say", "f"]


def text(rng, least=1):
    return "".join(rng.choice(WORDS) for _ in range(rng.randint(least, 6)))


def value(rng, depth=0):
    kind = rng.randint(0, 7 if depth < 2 else 4)
    if kind == 0: return text(rng, 0)
    if kind == 1: return rng.choice([0, -1, 7, 2**53 + 1, 10**25, -(10**30)])
    if kind == 2: return rng.choice([True, False, None])
    if kind == 3: return rng.choice([0.5, -2.25, 1.5])
    if kind == 4: return rng.randint(0, 999)
    if kind == 5: return [value(rng, depth + 1) for _ in range(rng.randint(0, 3))]
    return {text(rng): value(rng, depth + 1) for _ in range(rng.randint(0, 3))}


def script(rng):
    """Reasoning, text and calls, in this order, each perhaps missing; why it stopped; what it cost."""
    parts = []
    if rng.random() < 0.4: parts.append({"kind": "reasoning", "text": text(rng)})
    if rng.random() < 0.7: parts.append({"kind": "text", "text": text(rng)})
    for n in range(rng.choice([0, 0, 1, 1, 2, 3])):
        arguments = {text(rng): value(rng) for _ in range(rng.randint(0, 3))}
        parts.append({"kind": "call", "id": f"call_{n}{rng.randint(0, 999)}", "name": rng.choice(NAMES), "arguments": arguments})
    if not parts: parts.append({"kind": "text", "text": text(rng)})
    called = parts[-1]["kind"] == "call"
    stop = "tool_use" if called else rng.choice(["end", "max_tokens", "filtered"])
    return {"parts": parts, "stop": stop, "usage": {"input": rng.randint(1, 999), "output": rng.randint(1, 999)}}


def cut(rng, whole):
    """A text in pieces; an empty text is one empty piece."""
    pieces = []
    while whole:
        n = rng.randint(1, 5)
        pieces.append(whole[:n])
        whole = whole[n:]
    return pieces or [""]


def dumps(rng, data):
    return json.dumps(data, ensure_ascii=rng.random() < 0.3, separators=rng.choice([(",", ":"), (", ", ": ")]))


def escaped(data):
    """Google's servers escape U+2028; its SDK takes a bare one for the end of a line."""
    return data.decode().replace("\u2028", "\\u2028").encode()


def sse(rng, events, named, done=False):
    end = rng.choice(["\n", "\n", "\r\n"])
    out = []
    for event in events:
        if named and rng.random() < 0.2: out.append(f": keep-alive{end}{end}")
        if named: out.append(f"event: {event['type']}{end}")
        out.append(f"data: {dumps(rng, event)}{end}{end}")
    if done: out.append(f"data: [DONE]{end}{end}")
    return "".join(out).encode()


def openai_chat(rng, s):
    base = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "m"}
    delta = lambda d, finish=None: {**base, "choices": [{"index": 0, "delta": d, "finish_reason": finish}], "usage": None}
    events, n = [delta({"role": "assistant", "content": None})], 0
    for part in s["parts"]:
        if part["kind"] == "reasoning": events += [delta({"reasoning_content": p}) for p in cut(rng, part["text"])]
        elif part["kind"] == "text": events += [delta({"content": p}) for p in cut(rng, part["text"])]
        else:
            events.append(delta({"tool_calls": [{"index": n, "id": part["id"], "type": "function", "function": {"name": part["name"], "arguments": ""}}]}))
            events += [delta({"tool_calls": [{"index": n, "function": {"arguments": p}}]}) for p in cut(rng, part["text"])]
            n += 1
    finish = {"end": "stop", "tool_use": "tool_calls", "max_tokens": "length", "filtered": "content_filter"}[s["stop"]]
    u = s["usage"]
    usage = {"prompt_tokens": u["input"], "completion_tokens": u["output"], "total_tokens": u["input"] + u["output"]}
    events += [delta({}, finish), {**base, "choices": [], "usage": usage}]
    return sse(rng, events, False, done=True)


def openai_responses(rng, s):
    events, items = [], []
    response = lambda status, **k: {"id": "r", "object": "response", "created_at": 1, "status": status, "error": None, "incomplete_details": None, "instructions": None,
                                    "metadata": {}, "model": "m", "output": [], "parallel_tool_calls": True, "temperature": 1.0, "tool_choice": "auto", "tools": [], "top_p": 1.0, **k}
    events.append({"type": "response.created", "response": response("in_progress")})
    for at, part in enumerate(s["parts"]):
        key = {"output_index": at, "item_id": f"i_{at}"}
        if part["kind"] == "reasoning":
            item = {"id": f"i_{at}", "type": "reasoning", "summary": [{"type": "summary_text", "text": part["text"]}], "encrypted_content": f"enc{at}"}
            events += [{"type": "response.output_item.added", "output_index": at, "item": {**item, "summary": [], "encrypted_content": "half"}},
                       {"type": "response.reasoning_summary_part.added", **key, "summary_index": 0, "part": {"type": "summary_text", "text": ""}}]
            events += [{"type": "response.reasoning_summary_text.delta", **key, "summary_index": 0, "delta": p} for p in cut(rng, part["text"])]
            events += [{"type": "response.reasoning_summary_text.done", **key, "summary_index": 0, "text": part["text"]}]
        elif part["kind"] == "text":
            content = {"type": "output_text", "text": part["text"], "annotations": [], "logprobs": []}
            item = {"id": f"i_{at}", "type": "message", "status": "completed", "role": "assistant", "content": [content]}
            events += [{"type": "response.output_item.added", "output_index": at, "item": {**item, "status": "in_progress", "content": []}},
                       {"type": "response.content_part.added", **key, "content_index": 0, "part": {**content, "text": ""}}]
            events += [{"type": "response.output_text.delta", **key, "content_index": 0, "delta": p, "logprobs": []} for p in cut(rng, part["text"])]
            events += [{"type": "response.output_text.done", **key, "content_index": 0, "text": part["text"], "logprobs": []}]
        else:
            item = {"id": f"i_{at}", "type": "function_call", "status": "completed", "arguments": part["text"], "call_id": part["id"], "name": part["name"]}
            events += [{"type": "response.output_item.added", "output_index": at, "item": {**item, "status": "in_progress", "arguments": ""}}]
            events += [{"type": "response.function_call_arguments.delta", **key, "delta": p} for p in cut(rng, part["text"])]
            events += [{"type": "response.function_call_arguments.done", **key, "arguments": part["text"]}]
        items.append(item)
        events.append({"type": "response.output_item.done", "output_index": at, "item": item})
    u = s["usage"]
    usage = {"input_tokens": u["input"], "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0}, "output_tokens": u["output"],
             "output_tokens_details": {"reasoning_tokens": 0}, "total_tokens": u["input"] + u["output"]}
    reason = {"max_tokens": "max_output_tokens", "filtered": "content_filter"}.get(s["stop"])
    status = "incomplete" if reason else "completed"
    events.append({"type": f"response.{status}", "response": response(status, output=items, usage=usage, incomplete_details={"reason": reason} if reason else None)})
    return sse(rng, [{**e, "sequence_number": n} for n, e in enumerate(events)], True)


def anthropic(rng, s):
    u = s["usage"]
    usage = {"input_tokens": u["input"], "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0, "output_tokens": 1}
    events = [{"type": "message_start", "message": {"id": "m", "type": "message", "role": "assistant", "model": "m", "content": [], "stop_reason": None, "stop_sequence": None, "usage": usage}}]
    for at, part in enumerate(s["parts"]):
        start = lambda block: {"type": "content_block_start", "index": at, "content_block": block}
        delta = lambda d: {"type": "content_block_delta", "index": at, "delta": d}
        if rng.random() < 0.2: events.append({"type": "ping"})
        if part["kind"] == "reasoning":
            events.append(start({"type": "thinking", "thinking": "", "signature": ""}))
            events += [delta({"type": "thinking_delta", "thinking": p}) for p in cut(rng, part["text"])]
            events.append(delta({"type": "signature_delta", "signature": f"sig{at}"}))
        elif part["kind"] == "text":
            events.append(start({"type": "text", "text": ""}))
            events += [delta({"type": "text_delta", "text": p}) for p in cut(rng, part["text"])]
        else:
            events.append(start({"type": "tool_use", "id": part["id"], "name": part["name"], "input": {}}))
            pieces = [""] if part["arguments"] == {} and rng.random() < 0.5 else ["", *cut(rng, part["text"])]
            events += [delta({"type": "input_json_delta", "partial_json": p}) for p in pieces]
        events.append({"type": "content_block_stop", "index": at})
    reason = {"end": "end_turn", "tool_use": "tool_use", "max_tokens": "max_tokens", "filtered": "refusal"}[s["stop"]]
    events += [{"type": "message_delta", "delta": {"stop_reason": reason, "stop_sequence": None}, "usage": {"output_tokens": u["output"]}}, {"type": "message_stop"}]
    return sse(rng, events, True)


def gemini(rng, s):
    u = s["usage"]
    usage = {"promptTokenCount": u["input"], "candidatesTokenCount": u["output"], "totalTokenCount": u["input"] + u["output"]}
    parts, signed = [], False
    for part in s["parts"]:
        if part["kind"] == "call":
            call = {"functionCall": {"name": part["name"], "args": part["arguments"], **({"id": part["id"]} if part["id"] else {})}}
            if not signed: call["thoughtSignature"], signed = "c2lnbg==", True
            parts.append(call)
        else:
            thought = {"thought": True} if part["kind"] == "reasoning" else {}
            parts += [{"text": p, **thought} for p in cut(rng, part["text"])]
    groups = []
    while parts:
        n = rng.randint(1, 2)
        groups.append(parts[:n])
        parts = parts[n:]
    reason = {"end": "STOP", "tool_use": "STOP", "max_tokens": "MAX_TOKENS", "filtered": "SAFETY"}[s["stop"]]
    events = [{"candidates": [{"index": 0, "content": {"role": "model", "parts": g}, **({"finishReason": reason} if i == len(groups) - 1 else {})}],
               "usageMetadata": usage} for i, g in enumerate(groups)]
    return escaped(sse(rng, events, False))


WIRES = {"openai-chat": openai_chat, "openai-responses": openai_responses, "anthropic": anthropic, "gemini": gemini, "vertex": gemini}


def prepared(rng, wire, s):
    """The script with each call's arguments as the text this wire carries."""
    for part in s["parts"]:
        if part["kind"] != "call": continue
        part["text"] = dumps(rng, part["arguments"])
        if wire in ("gemini", "vertex") and rng.random() < 0.3: part["id"] = None
    return s


def meaning(wire, s):
    """What everybody must make of it."""
    joined = lambda kind: "".join(p["text"] for p in s["parts"] if p["kind"] == kind)
    stop = "refusal" if wire == "anthropic" and s["stop"] == "filtered" else s["stop"]
    calls = [{"id": p["id"], "name": p["name"], "arguments": p["arguments"]} for p in s["parts"] if p["kind"] == "call"]
    return {"text": joined("text"), "reasoning": joined("reasoning"), "tool_calls": calls, "stop": stop,
            "usage": {"input": s["usage"]["input"], "output": s["usage"]["output"]}}
