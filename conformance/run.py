#!/usr/bin/env python3
"""Runs a program against the recordings of this folder and compares what it prints. Needs Python 3.8 and nothing else.

  conformance/run.py                                     # delegraph, from the PATH
  conformance/run.py --command './mine --{policy} {input}' --only adk
"""

import argparse
import difflib
import json
import pathlib
import shlex
import subprocess
import sys

FOLDER = pathlib.Path(__file__).resolve().parent
COMMAND = "delegraph replay --dialect {dialect} --format stream --policy {policy} --stream-format {format} {input}"

# What is expected of each recording: the file, the policy and the format.
EXPECTED = [
    ("client.sse", "client", "native"),
    ("public.sse", "public", "native"),
    ("normalized.jsonl", "client", "normalized"),
]


def output(command, recording, policy, form, timeout):
    """Returns what the command prints for a recording."""
    words = {"dialect": recording.parent.name, "policy": policy, "format": form, "input": str(recording / "input.sse")}
    # Split first, so that a blank in a path does not make two words of it.
    args = [word.format(**words) for word in shlex.split(command)]
    done = subprocess.run(args, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=timeout, check=False)
    if done.returncode != 0:
        raise RuntimeError("exit status %d: %s" % (done.returncode, done.stderr.decode(errors="replace").strip()))
    return done.stdout


def events(stream):
    """Returns the JSON of a stream's frames."""
    return [json.loads(line[len("data: "):]) for line in stream.decode().split("\n") if line.startswith("data: ")]


def difference(want, got, form):
    """Returns the lines in which two outputs differ: bytes of a stream, or JSON values whose members may stand in any order."""
    if form == "native":
        a, b = want.decode(errors="replace").split("\n"), got.decode(errors="replace").split("\n")
        same = want == got
    else:
        dump = lambda values: [json.dumps(value, sort_keys=True, ensure_ascii=False) for value in values]
        a, b = dump(json.loads(line) for line in want.decode().split("\n") if line), dump(events(got))
        same = a == b
    return [] if same else list(difflib.unified_diff(a, b, "expected", "printed", lineterm="")) or ["the bytes differ"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--command", default=COMMAND, help="the program, with {dialect}, {policy}, {format} and {input}; default: %(default)s")
    parser.add_argument("--folder", default=FOLDER, type=pathlib.Path, help="where the recordings are")
    parser.add_argument("--only", default="", help="the beginning of DIALECT/RECORDING")
    parser.add_argument("--skip-format", action="append", default=[], choices=["native", "normalized"], help="a format that the program does not have")
    parser.add_argument("--timeout", default=60, type=float, help="seconds that one run of the program may take")
    asked = parser.parse_args()
    failed = passed = 0
    for recording in sorted(path.parent for path in asked.folder.glob("*/*/input.sse")):
        name = "%s/%s" % (recording.parent.name, recording.name)
        if not name.startswith(asked.only):
            continue
        for file, policy, form in EXPECTED:
            if form in asked.skip_format:
                continue
            try:
                wrong = difference((recording / file).read_bytes(), output(asked.command, recording, policy, form, asked.timeout), form)
            except (OSError, RuntimeError, ValueError, KeyError, subprocess.TimeoutExpired) as problem:
                wrong = [str(problem)]
            if wrong:
                failed += 1
                print("FAIL %s/%s\n%s" % (name, file, "\n".join("  " + line for line in wrong)))
            else:
                passed += 1
    print("%d passed, %d failed" % (passed, failed))
    if passed + failed == 0:
        print("no recording begins with %r" % asked.only)
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
