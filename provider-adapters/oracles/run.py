#!/usr/bin/env python3
"""Compares `codec` with the vendors' SDKs: requests, replies, and random scripts three ways.

usage: run.py CODEC [--cases N] [--seed S]
exit code: 0 = all agree, 1 = a difference, which is printed with the bytes that show it.
"""
import argparse, functools, json, pathlib, random, re, subprocess, sys

import allow, oracle_request, oracle_stream, script

HERE = pathlib.Path(__file__).resolve().parent.parent
FIXTURES = HERE / "tests/it/fixtures"
WIRES = ["openai-chat", "openai-responses", "anthropic", "gemini", "vertex"]

oracle_request._strict_validator = functools.cache(oracle_request._strict_validator)


def codec(binary, *arguments, given):
    run = subprocess.run([binary, *arguments], input=given, capture_output=True)
    if run.returncode: raise SystemExit(f"codec {' '.join(arguments)}: {run.stderr.decode()}")
    return json.loads(run.stdout)


def verdict(wire, body):
    if wire in ("gemini", "vertex"): found = oracle_request.check_google(body, wire == "vertex")
    else: found = oracle_request.check_typed(wire, body, body.get("stream") is True, False)
    if not found["ok"]: return "rejected", found
    broken = oracle_request.lint(wire, body)
    if broken: return "lint", broken
    # The SDK would send the same bytes.
    if found.get("sdk_body_equal") is False: return "unequal", found["diff"]
    return "accepted", None


def requests(binary):
    problems, count = [], 0
    for file in sorted(FIXTURES.glob("requests/*.json")):
        wire, kind = file.name.split(".")[:2]
        want = {"ok": "accepted", "bad": "rejected", "lint": "lint"}[kind.split("-")[0]]
        got, why = verdict(wire, json.loads(file.read_text()))
        if got not in (want, "unequal"): problems.append(f"the oracle is broken: {file.name} is {got}: {why}")
    conversations = sorted(HERE.glob("tests/it/conversations/*.json")) + [HERE / "examples/conversation.json"]
    for file in conversations:
        for wire in WIRES:
            for flags in ([], ["--strict"]):
                body = codec(binary, "encode", wire, *flags, given=file.read_bytes())
                got, why = verdict(wire, body)
                count += 1
                if got != "accepted":
                    problems.append(f"{file.name} for {wire} {flags} is {got}: {json.dumps(why)[:2000]}\n{json.dumps(body)}")
    return problems, f"{count} requests accepted"


def sdk(wire, name, data, pieces):
    told = re.search(r"error-(\d{3})", name)
    status = int(told.group(1)) if told else 200
    return oracle_stream.run(wire, name, pieces(data), status)[0]


def replies(binary):
    problems, count = [], 0
    for folder in WIRES:
        for file in sorted(FIXTURES.glob(f"{folder}/*.*")):
            name, data = f"{folder}.{file.name}", file.read_bytes()
            theirs = sdk(folder, file.name, data, oracle_stream.cut)
            expected = json.loads((FIXTURES / "expected" / f"{name}.json").read_text())
            if json.loads(json.dumps(theirs)) != expected: problems.append(f"expected/{name}.json is not what the SDK says")
            truth = allow.corrected(name, expected)
            for flags in ([], ["--chunk", "1"], ["--chunk-seed", "7"]):
                ours = codec(binary, "decode", folder, "--oracle", *flags, given=data)
                count += 1
                problems += [f"{name} {flags}: {d}" for d in allow.differences(ours, truth)]
    return problems, f"{count} replies agree"


def agrees(wire, said, got):
    """Whether a reading has the script's meaning. SDKs add fields of their own."""
    calls = [{k: c[k] for k in ("id", "name", "arguments")} for c in got["tool_calls"]]
    for mine, theirs in zip(calls, said["tool_calls"]):
        if theirs["id"] is None: mine["id"] = None
    usage = {k: (got["usage"] or {}).get(k) for k in ("input", "output")}
    short = {"text": got["text"], "reasoning": got["reasoning"], "tool_calls": calls, "stop": got["stop"]["neutral"], "usage": usage}
    return [f"{k}: {short[k]!r} instead of {said[k]!r}" for k in said if short[k] != said[k]]


def three_ways(binary, cases, seed):
    problems, count = [], 0
    for wire in WIRES:
        for case in range(cases):
            rng = random.Random(f"{seed}/{wire}/{case}")
            s = script.prepared(rng, wire, script.script(rng))
            data, said = script.WIRES[wire](rng, s), script.meaning(wire, s)
            theirs = sdk(wire, "case.sse", data, lambda d: oracle_stream.cut(d, seed=case))
            ours = codec(binary, "decode", wire, "--oracle", "--chunk-seed", str(case), given=data)
            found = [f"SDK {d}" for d in agrees(wire, said, theirs)] + [f"codec {d}" for d in agrees(wire, said, ours)]
            found += allow.differences(ours, theirs)
            count += 1
            if found: problems.append(f"{wire} case {case} of seed {seed}: {'; '.join(found)}\n{data.decode()}")
    return problems, f"{count} scripts read alike three ways"


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("codec")
    ap.add_argument("--cases", type=int, default=60)
    ap.add_argument("--seed", type=int, default=1)
    a = ap.parse_args()
    failed = False
    for part in (requests, replies, functools.partial(three_ways, cases=a.cases, seed=a.seed)):
        problems, summary = part(a.codec)
        print(summary if not problems else f"{len(problems)} problems:\n" + "\n".join(problems[:5]), flush=True)
        failed = failed or bool(problems)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
