#!/usr/bin/env python3
"""Compares `codec` with the vendors' SDKs: requests, replies, and random scripts three ways.

usage: run.py CODEC [--rounds N] [--seed S] [--only WIRE/ROUND]
exit code: 0 = all agree, 1 = a difference, which is printed with the bytes that show it.
"""
import argparse, functools, json, pathlib, random, re, subprocess, sys

import allow, bedrock, oracle_request, oracle_stream, script

HERE = pathlib.Path(__file__).resolve().parent.parent
FIXTURES = HERE / "tests/it/fixtures"
WIRES = ["openai-chat", "openai-responses", "anthropic", "gemini", "vertex"]
# Each wire as the adapters write it, and whose types must accept that.
ENCODINGS = [
    *((wire, [wire]) for wire in WIRES),
    *((wire, [wire, "--strict"]) for wire in WIRES),
    ("openai-chat", ["prompt"]),
]

oracle_request._strict_validator = functools.cache(oracle_request._strict_validator)


def codec(binary, *arguments, given):
    run = subprocess.run([binary, *arguments], input=given, capture_output=True)
    if run.returncode: raise SystemExit(f"codec {' '.join(arguments)}: {run.stderr.decode()}")
    return json.loads(run.stdout)


def verdict(wire, body):
    if wire in ("gemini", "vertex"): found = oracle_request.check_google(body, wire == "vertex")
    else: found = oracle_request.check_typed(wire, body, body.get("stream") is True, False)
    if not found["ok"]:
        # The names of all members of a union say nothing.
        place = lambda error: re.sub(r"\[union\[.*?\]\]", "", error["loc"])
        return "rejected", [f"{place(error)}: {error['msg']}" for error in found["errors"]]
    broken = oracle_request.lint(wire, body)
    if broken: return "lint", broken
    # The SDK would send the same bytes.
    if found.get("sdk_body_equal") is False: return "unequal", found["diff"]
    return "accepted", None


def judges():
    """The judges themselves: good requests pass, bad ones do not."""
    problems, files = [], sorted(FIXTURES.glob("requests/*.json"))
    for file in files:
        wire, kind = file.name.split(".")[:2]
        want = {"ok": "accepted", "bad": "rejected", "lint": "lint"}[kind.split("-")[0]]
        got, why = verdict(wire, json.loads(file.read_text()))
        if got not in (want, "unequal"): problems.append(f"the oracle is broken: {file.name} is {got}: {why}")
    return problems, f"{len(files)} requests judged as they should be"


def requests(binary):
    problems, count = [], 0
    for file in sorted(HERE.glob("tests/it/conversations/*.json")) + [HERE / "examples/conversation.json"]:
        for judge, arguments in ENCODINGS:
            body = codec(binary, "encode", *arguments, given=file.read_bytes())
            got, why = verdict(judge, body)
            count += 1
            if got == "accepted": continue
            report = json.dumps(why, indent=1, ensure_ascii=False)[:3000]
            problems.append(f"codec encode {' '.join(arguments)} < {file.relative_to(HERE)}\n{got}: {report}\nbody: {json.dumps(body, ensure_ascii=False)}")
    return problems, f"{count} requests accepted"


def sdk(wire, name, data, pieces):
    report = re.search(r"error-(\d{3})", name)
    status = int(report.group(1)) if report else 200
    return oracle_stream.run(wire, name, pieces(data), status)[0]


def replies(binary):
    problems, count = [], 0
    for folder in [*WIRES, "openai-chat-compat"]:
        wire = folder.removesuffix("-compat")
        for file in sorted(FIXTURES.glob(f"{folder}/*.*")):
            name, data = f"{folder}.{file.name}", file.read_bytes()
            expected = json.loads((FIXTURES / "expected" / f"{name}.json").read_text())
            if "hand_written" not in expected:
                theirs = sdk(wire, file.name, data, oracle_stream.cut)
                if json.loads(json.dumps(theirs)) != expected: problems.append(f"expected/{name}.json is not what the SDK says")
            for size in (len(data), 1, 2, 3, 7):
                ours = codec(binary, "decode", wire, "--oracle", "--chunk", str(size), given=data)
                count += 1
                found = allow.differences(ours, allow.corrected(name, expected))
                if found: problems.append(report(f"codec decode {wire} --oracle --chunk {size} < {file.relative_to(HERE)}", found, data))
    return problems, f"{count} replies agree"


def report(title, found, data):
    return "\n".join([title, *(f"  {line}" for line in found), "bytes:", data.decode()])


def agrees(said, got):
    """How a reading differs from the script. SDKs add fields of their own."""
    calls = [{key: call[key] for key in ("id", "name", "arguments")} for call in got["tool_calls"]]
    for mine, theirs in zip(calls, said["tool_calls"]):
        if theirs["id"] is None: mine["id"] = None
    usage = {key: (got["usage"] or {}).get(key) for key in ("input", "output")}
    short = {**{key: got[key] for key in ("text", "reasoning", "refusal")}, "tool_calls": calls, "stop": got["stop"]["neutral"], "usage": usage}
    return [f"{key}: {short[key]!r}, the script says {said[key]!r}" for key in said if short[key] != said[key]]


def three_ways(binary, rounds, seed, only):
    problems, count = [], 0
    for wire in WIRES:
        for number in range(rounds):
            if only not in (None, f"{wire}/{number}"): continue
            rng = random.Random(f"{seed}/{wire}/{number}")
            name, data, said = script.reply(rng, wire)
            theirs = sdk(wire, name, data, lambda d: oracle_stream.cut(d, seed=number))
            ours = codec(binary, "decode", wire, "--oracle", "--chunk-seed", str(number), given=data)
            found = [f"SDK: {d}" for d in agrees(said, theirs)] + [f"ours: {d}" for d in agrees(said, ours)]
            found += [f"ours and the SDK: {d}" for d in allow.differences(ours, theirs)]
            count += 1
            if found: problems.append(report(f"cargo xtask oracles --seed {seed} --rounds {rounds} --only {wire}/{number}", found, data))
    return problems, f"{count} scripts read alike three ways (seed {seed})"


def event_streams(binary, rounds, seed):
    """Bedrock, by botocore: requests, and bytes that are whole or damaged."""
    problems, count, damaged = [], 0, 0
    for file in sorted(HERE.glob("tests/it/conversations/*.json")) + [HERE / "examples/conversation.json"]:
        # Members of a user's own, which no wire knows.
        if file.stem == "extra": continue
        body = codec(binary, "encode", "bedrock", given=file.read_bytes())
        why = bedrock.judge(body)
        count += 1
        if why: problems.append(f"codec encode bedrock < {file.relative_to(HERE)}\n{why}\nbody: {json.dumps(body, ensure_ascii=False)}")
    for number in range(rounds):
        data = bedrock.reply(random.Random(f"{seed}/bedrock/{number}"))
        ours = codec(binary, "decode", "bedrock", "--oracle", "--chunk-seed", str(number), given=data)
        theirs = bedrock.read(data)
        damaged += theirs["error"]
        found = bedrock.differences(ours, theirs)
        if found: problems.append(f"bedrock/{number}, seed {seed}: {found}\nbytes: {data!r}")
    return problems, f"{count} Bedrock requests accepted, {rounds} event streams read alike ({damaged} of them broken)"


def compactions(binary, examples, rounds, seed):
    """What is left of compacted conversations is what providers take, on every wire."""
    lines = subprocess.run([examples / "compacted", str(seed), str(rounds)], capture_output=True, check=True).stdout.splitlines()
    problems, count = [], 0
    for number, line in enumerate(lines):
        for judge, arguments in ENCODINGS:
            body = codec(binary, "encode", *arguments, given=line)
            got, why = verdict(judge, body)
            count += 1
            if got == "accepted": continue
            problems.append(f"compacted {seed} {rounds}, line {number + 1}, codec encode {' '.join(arguments)}\n{got}: {why}\nbody: {json.dumps(body, ensure_ascii=False)}")
        why = bedrock.judge(codec(binary, "encode", "bedrock", given=line))
        if why: problems.append(f"compacted {seed} {rounds}, line {number + 1}, codec encode bedrock\n{why}")
    return problems, f"{len(lines)} compacted conversations accepted, {count} requests of them"


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("codec", help="beside it are the examples `signed` and `compacted`")
    ap.add_argument("--rounds", type=int, default=60, help="random scripts for each wire")
    ap.add_argument("--seed", type=int, default=1)
    ap.add_argument("--only", help="one random script alone, and nothing else")
    a = ap.parse_args()
    examples = pathlib.Path(a.codec).parent
    parts = [lambda: three_ways(a.codec, a.rounds, a.seed, a.only)]
    if a.only is None:
        more = [lambda: event_streams(a.codec, a.rounds, a.seed), lambda: bedrock.signatures(examples / "signed", a.rounds, a.seed)]
        more.append(lambda: compactions(a.codec, examples, max(a.rounds // 3, 1), a.seed))
        parts = [judges, lambda: requests(a.codec), lambda: replies(a.codec), *more, *parts]
    failed = 0
    for part in parts:
        problems, summary = part()
        failed += len(problems)
        print(summary if not problems else f"{len(problems)} differences, the first of them:\n\n" + "\n\n".join(problems[:3]), flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
