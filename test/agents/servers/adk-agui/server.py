"""ag-ui-adk in front of an ADK agent with a subagent."""

import os

import uvicorn
from ag_ui_adk import ADKAgent, add_adk_fastapi_endpoint
from fastapi import FastAPI
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
root = LlmAgent(name="meteorologist", model=model(), tools=[weather, broken, LongRunningFunctionTool(approve)], sub_agents=[expert])
app = FastAPI()
add_adk_fastapi_endpoint(app, ADKAgent(adk_agent=root, app_name="app", user_id="user"), path="/agent")
uvicorn.run(app, host="127.0.0.1", port=int(os.environ["PORT"]))
