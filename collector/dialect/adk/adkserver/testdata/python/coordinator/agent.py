"""The agents that the tests drive. The scripted model knows which of them asks by the word agent:NAME in its instruction."""

import asyncio
import os
import urllib.request

from google.adk.agents import Agent
from google.adk.tools import AgentTool, FunctionTool, LongRunningFunctionTool, ToolContext
from google.genai import types

MODEL = "gemini-2.5-flash"


async def gate(tool: str) -> None:
    """Waits until TOOL_GATE, where the environment has one, answers for the tool."""
    if url := os.environ.get("TOOL_GATE"):
        await asyncio.to_thread(urllib.request.urlopen, f"{url}/{tool}")


async def get_weather(city: str) -> dict:
    """Tells the weather of a city."""
    await gate("get_weather")
    return {"city": city, "weather": "sunny", "celsius": 21}


async def get_time(city: str) -> dict:
    """Tells the time of a city."""
    await gate("get_time")
    return {"city": city, "time": "10:30"}


def failing_tool(reason: str) -> dict:
    """Always fails."""
    raise ValueError("the tool failed: " + reason)


def request_approval(amount: int) -> dict:
    """Asks a human to approve an amount."""
    return {"status": "pending", "ticket": "approval-1", "amount": amount}


def request_signature(document: str) -> None:
    """Asks a human to sign a document, and says nothing until it is signed."""
    return None


def delete_files(folder: str) -> dict:
    """Deletes a folder, once a human has confirmed it."""
    return {"deleted": folder}


async def save_report(title: str, tool_context: ToolContext) -> dict:
    """Saves a report as an artifact, and notes it in the session's state."""
    version = await tool_context.save_artifact(
        "report.txt", types.Part.from_bytes(data=b"a report", mime_type="text/plain")
    )
    tool_context.state["last_report"] = title
    tool_context.state["temp:scratch"] = "not kept"
    return {"version": version}


def lookup_invoice(invoice: str) -> dict:
    """Looks an invoice up."""
    return {"invoice": invoice, "total": 42.5}


billing_agent = Agent(
    name="billing_agent",
    model=MODEL,
    description="Answers questions about invoices.",
    instruction="agent:billing_agent",
    tools=[lookup_invoice],
)

summarizer = Agent(
    name="summarizer",
    model=MODEL,
    description="Makes a text shorter.",
    instruction="agent:summarizer",
)

root_agent = Agent(
    name="coordinator",
    model=MODEL,
    description="Answers or delegates.",
    instruction="agent:coordinator",
    tools=[
        get_weather,
        get_time,
        failing_tool,
        LongRunningFunctionTool(request_approval),
        LongRunningFunctionTool(request_signature),
        FunctionTool(delete_files, require_confirmation=True),
        save_report,
        AgentTool(agent=summarizer),
    ],
    sub_agents=[billing_agent],
)
