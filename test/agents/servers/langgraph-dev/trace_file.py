"""Writes what LangChain's own tracer saw of each run into the file that TRACE_FILE names."""

import contextvars
import json
import os
import threading

from langchain_core.tracers.base import BaseTracer
from langchain_core.tracers.context import register_configure_hook

FILE, LOCK = os.environ.get("TRACE_FILE"), threading.Lock()


class FileTracer(BaseTracer):
    def _persist_run(self, run):
        """Is called with the whole tree when its root has ended."""
        with LOCK, open(FILE, "a") as file:
            file.write(json.dumps(told(run)) + "\n")


def told(run):
    metadata, outputs = (run.extra or {}).get("metadata", {}), run.outputs or {}
    return {
        "id": str(run.id), "kind": run.run_type, "name": run.name, "agent": metadata.get("lc_agent_name"), "run": metadata.get("run_id"),
        "thread": metadata.get("thread_id"), "node": metadata.get("langgraph_node"), "error": (run.error or "").split("(")[0] or None,
        "began": run.start_time.isoformat(), "tokens": tokens(outputs), "call": call(outputs), "children": [told(child) for child in run.child_runs],
    }


def tokens(outputs):
    for generations in outputs.get("generations") or []:
        for generation in generations:
            used = (generation.get("message") or {}).get("kwargs", {}).get("usage_metadata") or {}
            return [used.get("input_tokens"), used.get("output_tokens")]


def call(outputs):
    output = outputs.get("output")
    return getattr(output, "tool_call_id", None)


if FILE:
    register_configure_hook(contextvars.ContextVar("file_tracer", default=FileTracer()), inheritable=True)
