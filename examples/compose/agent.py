"""An agent that answers each POST with the same AG-UI run. It calls no model."""

import json
import time
import uuid
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


def events():
    run, call, message = (str(uuid.uuid4()) for _ in range(3))
    ids = {"threadId": "example", "runId": run}
    yield {"type": "RUN_STARTED", **ids}
    yield {"type": "TOOL_CALL_START", "toolCallId": call, "toolCallName": "weather"}
    yield {"type": "TOOL_CALL_ARGS", "toolCallId": call, "delta": '{"city": "Berlin"}'}
    yield {"type": "TOOL_CALL_END", "toolCallId": call}
    yield {"type": "TOOL_CALL_RESULT", "messageId": str(uuid.uuid4()), "toolCallId": call, "content": "12 degrees"}
    yield {"type": "TEXT_MESSAGE_START", "messageId": message, "role": "assistant"}
    for word in ("It ", "is ", "12 ", "degrees."):
        yield {"type": "TEXT_MESSAGE_CONTENT", "messageId": message, "delta": word}
    yield {"type": "TEXT_MESSAGE_END", "messageId": message}
    yield {"type": "RUN_FINISHED", **ids}


class Agent(BaseHTTPRequestHandler):
    def do_POST(self):
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.end_headers()
        for event in events():
            self.wfile.write(f"data: {json.dumps(event)}\n\n".encode())
            self.wfile.flush()
            time.sleep(0.2)


ThreadingHTTPServer(("", 8000), Agent).serve_forever()
