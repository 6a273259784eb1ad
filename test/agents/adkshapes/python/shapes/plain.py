"""One agent and its tools."""

import asyncio

from google.adk.agents import LlmAgent
from google.adk.tools import ToolContext
from google.genai import types

from scripted import call, called, calls, model, say

from .registry import shape


async def weather(city: str) -> dict:
    """Tells the weather of a city."""
    await asyncio.sleep(0.1)
    return {"city": city, "weather": "sunny"}


async def clock(city: str) -> dict:
    """Tells the time of a city."""
    await asyncio.sleep(0.2)
    return {"city": city, "time": "10:30"}


async def nap(seconds: float) -> dict:
    """Sleeps."""
    await asyncio.sleep(seconds)
    return {"slept": seconds}


async def broken(reason: str) -> dict:
    """Always raises."""
    await asyncio.sleep(0.05)
    raise ValueError("the tool failed: " + reason)


async def refusing(reason: str) -> dict:
    """Always returns an error."""
    await asyncio.sleep(0.05)
    return {"error": "refused: " + reason}


async def save_report(title: str, tool_context: ToolContext) -> dict:
    """Saves a report as an artifact and notes it in the session's state."""
    version = await tool_context.save_artifact(
        "report.txt", types.Part.from_bytes(data=b"a report", mime_type="text/plain"))
    tool_context.state["last_report"] = title
    return {"version": version}


@shape(streamed=True)
def plain():
    return LlmAgent(name="plain", model=model(say("Hello ", "there.", after=0.1)))


@shape()
def plain_renamed():
    return LlmAgent(name="helper", model=model(say("Hello there.", after=0.1)))


@shape(streamed=True)
def one_tool():
    return LlmAgent(name="one_tool", tools=[weather],
                    model=model(call("weather", city="Rome", after=0.1), say("It is ", "sunny.")))


@shape(streamed=True)
def parallel_tools():
    return LlmAgent(
        name="assistant", tools=[weather, clock],
        model=model(calls(called("weather", city="Rome"), called("clock", city="Rome"), called("weather", city="Oslo")),
                    say("Sunny at 10:30.")))


@shape(streamed=True)
def tool_rounds():
    return LlmAgent(
        name="tool_rounds", tools=[weather, clock],
        model=model(call("weather", city="Rome"), call("clock", city="Rome"), say("Sunny at 10:30.")))


@shape(streamed=True)
def tool_after_text():
    turn = call("weather", city="Rome")
    turn.chunks.insert(0, say("Let me look. ").chunks[0])
    return LlmAgent(name="tool_after_text", tools=[weather], model=model(turn, say("Sunny.")))


@shape(streamed=True)
def tool_raises():
    return LlmAgent(name="tool_raises", tools=[broken], model=model(call("broken", reason="no luck"), say("Never said.")))


@shape()
def tool_raises_beside():
    return LlmAgent(
        name="assistant", tools=[broken, nap],
        model=model(calls(called("nap", seconds=1.3), called("broken", reason="no luck")), say("Never said.")))


@shape()
def tool_returns_error():
    return LlmAgent(name="assistant", tools=[refusing], model=model(call("refusing", reason="closed"), say("It refused.")))


@shape()
def unknown_tool():
    return LlmAgent(name="unknown_tool", tools=[weather], model=model(call("no_such_tool", city="Rome"), say("Sorry.")))


@shape()
def unknown_tool_beside():
    return LlmAgent(
        name="assistant", tools=[weather],
        model=model(calls(called("weather", city="Rome"), called("no_such_tool", city="Rome")), say("Half an answer.")))


@shape()
def artifact():
    return LlmAgent(name="assistant", tools=[save_report], model=model(call("save_report", title="T"), say("Saved.")))
