"""The agents of TestOneStory, which langgraph-dev and openai-agents have too."""

import os

from google.adk.agents import LlmAgent
from google.adk.models.lite_llm import LiteLlm


def weather(city: str) -> dict:
    """Returns the weather."""
    return {"weather": f"sunny in {city}"}


def alerts(city: str) -> dict:
    """Returns the alerts, but fails."""
    return {"error": f"no alerts for {city}"}


def model():
    return LiteLlm("openai/scripted", api_base=os.environ["MODEL_URL"], api_key="none", num_retries=0)


expert = LlmAgent(name="expert", description="knows it all", model=model())
root_agent = LlmAgent(name="coordinator", model=model(), tools=[weather, alerts], sub_agents=[expert])
