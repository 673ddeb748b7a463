"""Holds `switchboard serve` to its OpenAPI document, by requests that schemathesis makes of it.

    python -B run.py PROGRAM [--examples N] [--seed N]

No request ends in an error of the program, and every answer is one of those that the document has: its
status, its content type and its schema.
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import urllib.request

CHECKS = [
    "not_a_server_error",
    "status_code_conformance",
    "content_type_conformance",
    "response_schema_conformance",
]
# A stream without an end, and what ends the session that asks.
LEFT_OUT = ["/api/events", "/api/logout"]


def judge(program, examples, seed, home):
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": home,
        "SWITCHBOARD_HOME": os.path.join(home, "data"),
        "SWITCHBOARD_KEYRING": "off",
        # Nothing answers there.
        "OLLAMA_HOST": "127.0.0.1:9",
    }
    serve = [program, "serve", "--json", "--port", "0", "--limit-requests", "100000"]
    served = subprocess.Popen(serve, stdout=subprocess.PIPE, env=environment, cwd=home)
    try:
        link = json.loads(served.stdout.readline())["links"][0]["url"]
        page, token = link.split("/#token=")
        bearer = {"Authorization": f"Bearer {token}"}
        request = urllib.request.Request(f"{page}/api/openapi.json", headers=bearer)
        document = pathlib.Path(home, "openapi.json")
        document.write_bytes(urllib.request.urlopen(request, timeout=60).read())
        here = pathlib.Path(__file__).parent
        command = [os.path.join(os.path.dirname(sys.executable), "schemathesis")]
        command += ["--config-file", here / "schemathesis.toml"]
        command += ["run", document, "--url", page, "--header", f"Authorization: Bearer {token}"]
        command += ["--phases", "coverage,fuzzing", "--max-examples", examples, "--seed", seed]
        command += ["--checks", ",".join(CHECKS), "--request-timeout", "60", "--no-color"]
        for path in LEFT_OUT:
            command += ["--exclude-path", path]
        done = subprocess.run([str(word) for word in command], cwd=home)
        if served.poll() is not None:
            sys.exit(f"the program ended with {served.returncode}")
        return done.returncode
    finally:
        served.terminate()
        served.wait(timeout=60)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--examples", default="8")
    parser.add_argument("--seed", default="1")
    words = parser.parse_args()
    with tempfile.TemporaryDirectory() as home:
        program = os.path.abspath(words.program)
        sys.exit(judge(program, words.examples, words.seed, home))


if __name__ == "__main__":
    main()
