"""ag-ui-strands on the path that AWS AgentCore calls, for an agent and for a swarm of two."""

import os

import uvicorn
from ag_ui_strands import StrandsAgent, add_strands_fastapi_endpoint
from fastapi import FastAPI
from strands import Agent, tool
from strands.models.openai import OpenAIModel
from strands.multiagent import Swarm


@tool
def weather(city: str) -> str:
    """Returns the weather."""
    return f"sunny in {city}"


@tool
def broken(reason: str) -> str:
    """Fails."""
    raise ValueError(f"no luck: {reason}")


def model():
    return OpenAIModel(model_id="scripted", client_args={"base_url": os.environ["MODEL_URL"], "api_key": "none", "max_retries": 0})


def swarm():
    boss = Agent(name="boss", model=model(), callback_handler=None)
    expert = Agent(name="expert", description="knows it all", model=model(), callback_handler=None)
    return Swarm([boss, expert], entry_point=boss)


app = FastAPI()
meteorologist = Agent(name="meteorologist", model=model(), tools=[weather, broken], callback_handler=None)
add_strands_fastapi_endpoint(app, StrandsAgent(meteorologist, name="meteorologist"), "/invocations")
add_strands_fastapi_endpoint(app, StrandsAgent(swarm, name="swarm"), "/swarm")
uvicorn.run(app, host="127.0.0.1", port=int(os.environ["PORT"]))
