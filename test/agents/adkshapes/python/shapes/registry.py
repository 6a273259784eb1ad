"""The list of shapes: what is served under which name, and what a client says to it."""

import dataclasses
from collections.abc import Callable

import google.adk

SHAPES = {}


@dataclasses.dataclass
class Shape:
    """One app: steps are what the client sends, one request after the other, in one session."""

    name: str
    build: Callable
    steps: list
    streamed: bool  # recorded with streaming, too
    needs: int  # the major version of ADK
    sessions: int  # that ask at the same time


def shape(steps=None, streamed=False, needs=1, sessions=1):
    """Registers a function that builds an agent or an App; its name is the app's."""

    def register(build):
        name = build.__name__
        SHAPES[name] = Shape(name, build, steps or [text("go")], streamed, needs, sessions)
        return build

    return register


def text(said):
    return {"text": said}


def answer(function, response, resumes=False):
    """Answers the last open call of a function; resumes names the invocation that asked."""
    return {"answer": function, "response": response, "resumes": resumes}


def available():
    major = int(google.adk.__version__.split(".")[0])
    return {name: shape for name, shape in SHAPES.items() if shape.needs <= major}


def build(name):
    return SHAPES[name].build()


def listing():
    out = []
    for found in available().values():
        built = found.build()
        root = getattr(built, "root_agent", built)
        out.append({"name": found.name, "root": root.name, "steps": found.steps, "streamed": found.streamed,
                    "sessions": found.sessions})
    return {"version": google.adk.__version__, "shapes": out}
