#!/usr/bin/env python3
"""Starts real agent servers on loopback, asks them what their streams.json lists, and keeps each answer to the byte.

    record.py ENVIRONMENTS [SERVER...]
    record.py ENVIRONMENTS --serve SERVER

ENVIRONMENTS is the folder that .ci/install/servers fills. With --serve it prints the URL of one server, which runs until the end of
standard input. The README says what the files mean.
"""

import http.client
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from urllib.parse import urlencode

import model

HERE = Path(__file__).resolve().parent
LEFT_OUT = {"date", "server", "connection", "keep-alive", "transfer-encoding", "content-length", "etag"}
PATIENCE = 120  # seconds until a server listens
SILENCE = 60  # seconds without a byte after which a stream counts as over


MODEL = model.serve()


def main():
    environments = Path(sys.argv[1]).resolve()
    if sys.argv[2:3] == ["--serve"]:
        return serve(sys.argv[3], environments)
    names = sys.argv[2:] or sorted(p.parent.name for p in HERE.glob("*/streams.json"))
    failed = [name for name in names if not record(name, environments)]
    sys.exit(f"not recorded: {', '.join(failed)}" if failed else 0)


def serve(name, environments):
    with tempfile.TemporaryDirectory() as home, Server(name, environments / name, Path(home).resolve()) as server:
        print(f"http://127.0.0.1:{server.port}", flush=True)
        sys.stdin.read()


def record(name, environments):
    if not (environments / name).exists():
        print(f"{name}: {environments / name} is missing; run .ci/install/servers {name}")
        return False
    try:
        with tempfile.TemporaryDirectory() as home, Server(name, environments / name, Path(home).resolve()) as server:
            server.record()
    except Exception as fault:
        print(f"{name}: {type(fault).__name__}: {fault}")
        return False
    return True


class Server:
    """A server that runs inside a with statement."""

    def __init__(self, name, environment, home):
        self.name, self.environment = name, environment
        self.home, self.app = home, home / "app"
        self.plan = json.loads((HERE / name / "streams.json").read_text())
        self.port = free_port()
        self.known = {}  # what answers have said, by the names of the plan
        self.answers = {}

    def __enter__(self):
        shutil.copytree(HERE / self.name, self.app, ignore=shutil.ignore_patterns("recordings"))
        if (self.environment / "node_modules").exists():
            (self.app / "node_modules").symlink_to(self.environment / "node_modules")
        self.process = self.start()
        try:
            self.await_port()
        except Exception as fault:
            self.__exit__(type(fault), fault, None)
            raise
        return self

    def __exit__(self, kind, fault, trace):
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        if fault:
            print((self.home / "log").read_text(errors="replace")[-3000:], file=sys.stderr)

    def record(self):
        for turn in self.plan["streams"]:
            self.take(turn)
        self.write()

    def start(self):
        command = [self.place(word) for word in self.plan["command"]]
        env = {
            "PATH": f"{self.environment}/bin:{os.environ['PATH']}", "HOME": str(self.home), "PORT": str(self.port),
            "PYTHONDONTWRITEBYTECODE": "1", "PYTHONUNBUFFERED": "1", "NO_COLOR": "1", "LITELLM_LOCAL_MODEL_COST_MAP": "True", "PYTHONWARNINGS": "ignore", "DO_NOT_TRACK": "1",
            "MODEL_URL": MODEL, "OPENAI_API_KEY": "none", "OPENAI_BASE_URL": MODEL, "GOOGLE_API_KEY": "none", "ANTHROPIC_API_KEY": "none", "PYTHONPATH": str(self.app),
        } | {key: self.place(value) for key, value in self.plan.get("env", {}).items()} | {key: os.environ[key] for key in ["TRACE_FILE"] if key in os.environ}
        log = open(self.home / "log", "wb")
        return subprocess.Popen(command, cwd=self.app, env=env, stdout=log, stderr=log, stdin=subprocess.DEVNULL, start_new_session=True)

    def place(self, text):
        return text.replace("${PORT}", str(self.port)).replace("${ENV}", str(self.environment)).replace("${APP}", str(self.app)).replace("${MODEL}", MODEL)

    def await_port(self):
        deadline = time.monotonic() + PATIENCE
        while self.process.poll() is None and time.monotonic() < deadline:
            try:
                socket.create_connection(("127.0.0.1", self.port), 1).close()
                time.sleep(self.plan.get("settle", 0))
                return
            except OSError:
                time.sleep(0.2)
        raise RuntimeError("the server does not listen")

    def take(self, turn):
        """Asks, and keeps what comes; meanwhile it asks what stands in "during"."""
        request = self.request(turn)
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=SILENCE)
        connection.request(request["method"], request["path"], request["body"], request["headers"])
        response = connection.getresponse()
        body, others = b"", []
        while chunk := self.chunk(response):
            body += chunk
            frames = len(re.findall(rb"\r?\n\r?\n", body))
            if turn.get("during") and not others and frames >= turn.get("after", 1):
                self.keep(turn, "early", body)
                others = [threading.Thread(target=self.take_all, args=(turn["during"],))]
                others[0].start()
            if "leave" in turn and frames >= turn["leave"]:
                break
        connection.close()
        for other in others:
            other.join()
        self.keep(turn, "keep", body)
        if "name" in turn:
            self.answers[turn["name"]] = (request, response, body)
        if response.status not in (200, turn.get("status")):
            print(f"{self.name}: {turn.get('name', request['path'])}: {response.status} {body[:500]!r}")

    def keep(self, turn, when, body):
        for key, pattern in turn.get(when, {}).items():
            if not (found := re.search(pattern, body.decode(errors="replace"))):
                raise RuntimeError(f"{turn.get('name')}: nothing matches {pattern} in {body[-2000:]!r}")
            self.known[key] = found[1]

    def take_all(self, turns):
        for turn in turns:
            self.take(turn)

    @staticmethod
    def chunk(response):
        try:
            return response.read1(1 << 16)
        except (http.client.IncompleteRead, ConnectionError, TimeoutError):  # some servers break off, some never end
            return b""

    def request(self, turn):
        method, path = turn["ask"].split(" ", 1)
        headers = {"Accept": "text/event-stream"} | self.plan.get("headers", {}) | turn.get("headers", {})
        body = None
        if "form" in turn:
            headers["Content-Type"] = "application/x-www-form-urlencoded"
            body = urlencode({key: self.fill(value, turn, plain=True) for key, value in turn["form"].items()})
        elif method == "POST":
            headers["Content-Type"] = "application/json"
            base = next((b for p, b in self.plan.get("base", {}).items() if path.split("?")[0].endswith(p)), {})
            body = turn.get("body", {})
            body = {**base, **body} if isinstance(body, dict) else body
            body = self.fill(json.dumps(body, ensure_ascii=False, separators=(",", ":")), turn)
        return {"method": method, "path": self.fill(path, turn), "headers": headers, "body": body.encode() if body else None}

    def fill(self, text, turn, plain=False):
        """Puts what the turn says, or earlier answers said, where ${name} stands."""
        said = self.known | {key: turn[key] if plain else json.dumps(turn[key], ensure_ascii=False)[1:-1] for key in ("name", "say") if key in turn}
        return re.sub(r"\$\{(\w+)\}", lambda m: said[m[1]], text)

    def write(self):
        folder = HERE / self.name / "recordings"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        for name, (request, response, body) in self.answers.items():
            (folder / f"{name}.http").write_bytes(self.scrub(exchange(request, response, body)))
        print(f"{self.name}: {len(self.answers)} streams, {sum(len(a[2]) for a in self.answers.values())} bytes")

    def scrub(self, data):
        """Leaves out what says where this was recorded."""
        base = sys.base_prefix
        for old, new in [
            (f"127.0.0.1:{self.port}", "127.0.0.1:8000"), (f"localhost:{self.port}", "localhost:8000"), (f"0.0.0.0:{self.port}", "0.0.0.0:8000"),
            (MODEL, "http://127.0.0.1:9000/v1"), (str(self.app), "/app"), (str(self.environment), "/env"), (str(self.home), "/home"), (f"{base}/lib/python", "/python/lib/python"),
            (str(HERE), "/servers"), (socket.gethostname(), "machine"),
        ]:
            data = data.replace(old.encode(), new.encode())
        return data


def exchange(request, response, body):
    """Is a request and its answer as HTTP writes them, with plain line feeds and the answer's body to the end of the file."""
    lines = [f"{request['method']} {request['path']} HTTP/1.1", "Host: 127.0.0.1:8000"]
    lines += [f"{key}: {value}" for key, value in request["headers"].items()]
    if request["body"]:
        lines.append(f"Content-Length: {len(request['body'])}")
    head = "\n".join(lines).encode() + b"\n\n" + (request["body"] or b"") + b"\n\n"
    lines = [f"HTTP/1.1 {response.status} {response.reason}"]
    lines += [f"{key}: {value}" for key, value in response.getheaders() if key.lower() not in LEFT_OUT]
    return head + "\n".join(lines).encode() + b"\n\n" + body


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


if __name__ == "__main__":
    main()
