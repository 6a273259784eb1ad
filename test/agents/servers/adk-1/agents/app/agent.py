"""An agent with a subagent, for ADK's API server."""

import os

from google.adk.agents import LlmAgent
from google.adk.models.lite_llm import LiteLlm
from google.adk.tools.long_running_tool import LongRunningFunctionTool


def weather(city: str) -> dict:
    """Returns the weather."""
    return {"weather": f"sunny in {city}"}


def broken(reason: str) -> dict:
    """Fails."""
    raise ValueError(f"no luck: {reason}")


def approve(amount: int) -> dict:
    """Asks somebody."""
    return {"status": "pending"}


def model():
    return LiteLlm("openai/scripted", api_base=os.environ["MODEL_URL"], api_key="none", num_retries=0)


expert = LlmAgent(name="expert", description="knows it all", model=model(), tools=[weather])
root_agent = LlmAgent(name="meteorologist", model=model(), tools=[weather, broken, LongRunningFunctionTool(approve)], sub_agents=[expert])
