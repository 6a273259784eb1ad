"""Serves the shapes with ADK's own API server and records what the server writes and which spans it ends.

launch.py list             prints the shapes that this version of ADK can build, as JSON
launch.py serve PORT DIR   serves them on 127.0.0.1; DIR receives one app folder per shape

The recorder is an ASGI layer around ADK's application. It passes everything on unchanged and reads the clock just before
the server writes a frame. GET /recording/SESSION returns the session's runs, once they have ended.

ADK is imported in functions only: a code executor starts processes that import this file.
"""

import asyncio
import contextvars
import json
import sys
import time
from pathlib import Path

APP_FOLDER = """from google.adk.apps import App

import shapes

served = shapes.build({name!r})
if isinstance(served, App):
    app = served
else:
    root_agent = served
"""

RUN = contextvars.ContextVar("run", default=None)  # the recording of the request that is served
KEPT = {
    "error.type",
    "gcp.vertex.agent.associated_event_ids",
    "gcp.vertex.agent.event_id",
    "gen_ai.agent.name",
    "gen_ai.response.finish_reasons",
    "gen_ai.tool.call.id",
    "gen_ai.tool.name",
    "gen_ai.tool.type",
    "gen_ai.usage.experimental.reasoning_tokens",
    "gen_ai.usage.input_tokens",
    "gen_ai.usage.output_tokens",
    "gen_ai.usage.reasoning.output_tokens",
    "gen_ai.workflow.name",
    "gen_ai.workflow.nested",
}
USUAL = {"kind": "INTERNAL", "scope": "gcp.vertex.agent", "status": "UNSET", "parent": "", "attributes": {}}


class Spans:
    """A span processor that files each span under the run that was served when the span started."""

    def __init__(self):
        self.runs = {}

    def on_start(self, span, parent_context=None):
        if (run := RUN.get()) is not None:
            self.runs[span.context.span_id] = run

    def on_end(self, span):
        if (run := self.runs.pop(span.context.span_id, None)) is not None:
            run["spans"].append(describe(span))

    def _on_ending(self, span):
        pass

    def shutdown(self):
        pass

    def force_flush(self, timeout_millis=0):
        return True


def describe(span):
    """Leaves out what has its usual value, and attributes with content."""
    described = {
        "name": span.name,
        "id": f"{span.context.span_id:016x}",
        "parent": f"{span.parent.span_id:016x}" if span.parent else "",
        "kind": span.kind.name,
        "scope": span.instrumentation_scope.name,
        "start": span.start_time,
        "end": span.end_time,
        "status": span.status.status_code.name,
        "attributes": {key: value for key, value in (span.attributes or {}).items() if key in KEPT},
    }
    return {key: value for key, value in described.items() if value != USUAL.get(key)}


class Recorder:
    """The ASGI layer. It sets the context variable session to the id of the session that is served."""

    def __init__(self, app, session):
        self.app = app
        self.session = session
        self.sessions = {}

    async def __call__(self, scope, receive, send):
        path = scope.get("path", "")
        if path.startswith("/recording/"):
            await self.answer(path.rpartition("/")[2], send)
        elif path == "/run_sse":
            await self.record(scope, receive, send)
        else:
            await self.app(scope, receive, send)

    async def answer(self, session, send):
        runs = self.sessions.get(session, [])
        for run in runs:
            await run["done"].wait()
        body = json.dumps([{key: run[key] for key in run if key != "done"} for run in runs]).encode()
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-type", b"application/json")]})
        await send({"type": "http.response.body", "body": body})

    async def record(self, scope, receive, send):
        arrived = time.time_ns()
        body = b""
        while (message := await receive()).get("more_body"):
            body += message["body"]
        body += message["body"]
        unread = [{"type": "http.request", "body": body, "more_body": False}]
        request = json.loads(body)
        run = {"request": request, "arrived": arrived, "frames": [], "ended": 0, "spans": [], "done": asyncio.Event()}
        self.sessions.setdefault(request["sessionId"], []).append(run)

        async def replay():
            return unread.pop() if unread else await receive()

        async def stamped(message):
            now = time.time_ns()
            if message["type"] == "http.response.body":
                frames = message.get("body", b"").decode().split("\n\n")
                run["frames"] += [{"at": now, "data": frame.removeprefix("data: ")} for frame in frames if frame]
                if not message.get("more_body"):
                    run["ended"] = now
            await send(message)

        tokens = RUN.set(run), self.session.set(request["sessionId"])
        try:
            await self.app(scope, replay, stamped)
        finally:
            RUN.reset(tokens[0])
            self.session.reset(tokens[1])
            run["done"].set()


def serve(port, folder):
    import uvicorn
    from google.adk.cli.fast_api import get_fast_api_app
    from opentelemetry import trace

    import scripted
    import shapes

    for name in shapes.available():
        app = Path(folder, name)
        app.mkdir(parents=True)
        Path(app, "__init__.py").write_text("")
        Path(app, "agent.py").write_text(APP_FOLDER.format(name=name))
    app = get_fast_api_app(agents_dir=folder, session_service_uri="memory://", artifact_service_uri="memory://",
                           web=False, host="127.0.0.1", port=port)
    trace.get_tracer_provider().add_span_processor(Spans())
    uvicorn.run(Recorder(app, scripted.SESSION), host="127.0.0.1", port=port)


def list_shapes():
    import shapes

    print(json.dumps(shapes.listing()))


if __name__ == "__main__":
    if sys.argv[1] == "list":
        list_shapes()
    else:
        serve(int(sys.argv[2]), sys.argv[3])
