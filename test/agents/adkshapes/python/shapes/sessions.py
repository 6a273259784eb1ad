"""Clients that ask more than once."""

from google.adk.agents import SequentialAgent

from .containers import speaker, tooled
from .registry import shape, text


@shape(sessions=2)
def two_sessions():
    return SequentialAgent(name="pipeline", sub_agents=[tooled("first"), speaker("second", 0.2)])


@shape(steps=[text("go"), text("once more")])
def sequence_asked_twice():
    return SequentialAgent(name="sequence_asked_twice", sub_agents=[speaker("first"), speaker("second")])
