"""A pydantic-ai agent behind fasta2a."""

import os

import uvicorn
from fasta2a.pydantic_ai import agent_to_a2a
from pydantic_ai import Agent
from pydantic_ai.models.openai import OpenAIChatModel

agent = Agent(OpenAIChatModel("scripted"), name="meteorologist")


@agent.tool_plain
def weather(city: str) -> str:
    """Returns the weather."""
    return f"sunny in {city}"


uvicorn.run(agent_to_a2a(agent, name="meteorologist", url=f"http://127.0.0.1:{os.environ['PORT']}"), host="127.0.0.1", port=int(os.environ["PORT"]))
