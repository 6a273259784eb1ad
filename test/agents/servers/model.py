"""A model that says what the user's message tells it to, for frameworks that speak OpenAI's chat completions.

A message is a script, a line for each turn of the model:

    call weather {"city":"Rome"}    calls a tool; several calls on one line stand between " & "
    think aloud                     reasons, and says the line
    fail                            answers 500
    break                           breaks off after a word
    spoil                           reports an error after a word
    slow                            speaks for seconds
    Any other line                  is said, a word at a time
"""

import json
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


def serve():
    """Returns the URL of a model that runs as long as the process."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.handle_error = lambda *_: None  # agents that are killed leave connections behind
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return f"http://127.0.0.1:{server.server_port}/v1"


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        line = next_line(asked["messages"])
        if line == "fail":
            return self.answer(500, {"error": {"message": "the model is on fire", "type": "server_error", "code": "overloaded"}})
        message = {"role": "assistant", "content": None, "tool_calls": calls(line)} if line.startswith("call ") else {"role": "assistant", "content": line}
        if asked.get("stream"):
            return self.stream(asked, message)
        reason = "tool_calls" if "tool_calls" in message else "stop"
        self.answer(200, envelope(asked, "chat.completion") | {"choices": [{"index": 0, "message": message, "finish_reason": reason}], "usage": USAGE})

    def answer(self, status, said):
        body = json.dumps(said).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def stream(self, asked, message):
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        try:
            choices = range(asked.get("n") or 1)
            for delta in deltas(message):
                for index in choices:
                    self.frame(envelope(asked, "chat.completion.chunk") | {"choices": [{"index": index, "delta": delta, "finish_reason": None}]})
                if message["content"] == "slow":
                    time.sleep(0.3)
                if message["content"] == "break" and "content" in delta and delta["content"]:
                    self.close_connection = True
                    return
                if message["content"] == "spoil" and "content" in delta and delta["content"]:
                    self.frame({"error": {"message": "the model is on fire", "type": "server_error", "code": "overloaded"}})
                    self.close_connection = True
                    return
            reason = "tool_calls" if "tool_calls" in message else "stop"
            for index in choices:
                self.frame(envelope(asked, "chat.completion.chunk") | {"choices": [{"index": index, "delta": {}, "finish_reason": reason}]})
            self.frame(envelope(asked, "chat.completion.chunk") | {"choices": [], "usage": THOUGHT_USAGE if (message["content"] or "").startswith("think ") else USAGE})
            self.wfile.write(b"data: [DONE]\n\n")
        except OSError:
            pass  # the agent has gone
        self.close_connection = True

    def frame(self, said):
        self.wfile.write(b"data: " + json.dumps(said).encode() + b"\n\n")
        self.wfile.flush()

    def log_message(self, *_):
        pass


USAGE = {"prompt_tokens": 100, "completion_tokens": 3, "total_tokens": 103}
THOUGHT_USAGE = {
    "prompt_tokens": 100, "completion_tokens": 9, "total_tokens": 109,
    "prompt_tokens_details": {"cached_tokens": 64}, "completion_tokens_details": {"reasoning_tokens": 6},
}


def envelope(asked, kind):
    return {"id": "chatcmpl-1", "object": kind, "created": 1700000000, "model": asked.get("model", "scripted")}


def next_line(messages):
    """Returns the line of the last script that the assistant has not said yet."""
    said = 0
    for message in reversed(messages):
        said += message["role"] == "assistant" or is_retold(message)
        if message["role"] == "user" and not is_retold(message):
            lines = text(message).rpartition("User Request: ")[2].split("\n")  # so Strands' swarms introduce it
            return lines[said].strip() if said < len(lines) else "Done."
    return "Done."


def is_retold(message):
    """Reports whether ADK tells an agent what another one said."""
    return message["role"] == "user" and text(message).startswith("For context:")


def text(message):
    content = message.get("content") or ""
    return content if isinstance(content, str) else "".join(part.get("text", "") for part in content)


def calls(line):
    made = []
    for n, call in enumerate(line.split(" & ")):
        name, _, arguments = call.removeprefix("call ").partition(" ")
        made.append({"id": f"call_{name}_{n}_{time.monotonic_ns() % 10**9}", "type": "function", "function": {"name": name, "arguments": arguments or "{}"}})
    return made


def deltas(message):
    yield {"role": "assistant", "content": None if "tool_calls" in message else ""}
    if "tool_calls" in message:
        for index, call in enumerate(message["tool_calls"]):
            arguments = call["function"]["arguments"]
            yield {"tool_calls": [{"index": index, **call, "function": {**call["function"], "arguments": ""}}]}
            for half in (arguments[: len(arguments) // 2], arguments[len(arguments) // 2 :]):
                yield {"tool_calls": [{"index": index, "function": {"arguments": half}}]}
        return
    line = message["content"]
    if line.startswith("think "):
        yield {"reasoning_content": "Let me think."}
    for word in (["word"] * 20 if line == "slow" else line.split(" ")):
        yield {"content": word + " "}
