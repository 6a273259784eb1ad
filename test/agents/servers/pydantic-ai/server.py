"""pydantic-ai: the same agent by its AG-UI and its Vercel adapter."""

import os

import uvicorn
from fastapi import FastAPI, Request
from pydantic_ai import Agent, DeferredToolRequests, ModelRetry
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.ui.ag_ui import AGUIAdapter
from pydantic_ai.ui.vercel_ai import VercelAIAdapter

agent = Agent(OpenAIChatModel("scripted"), name="meteorologist", instructions="You know the weather.", output_type=[str, DeferredToolRequests])
expert = Agent(OpenAIChatModel("scripted"), name="expert")


@agent.tool_plain
def weather(city: str) -> str:
    """Returns the weather."""
    return f"sunny in {city}"


@agent.tool_plain
def broken(reason: str) -> str:
    """Fails."""
    raise ModelRetry(f"no luck: {reason}")


@agent.tool_plain
def raises(reason: str) -> str:
    """Breaks the run."""
    raise ValueError(reason)


@agent.tool_plain(requires_approval=True)
def pay(amount: int) -> str:
    """Pays, if somebody agrees."""
    return f"paid {amount}"


@agent.tool_plain
async def consult(question: str) -> str:
    """Asks another agent."""
    return (await expert.run(question)).output


app = FastAPI()


@app.post("/agui")
async def agui(request: Request):
    return await AGUIAdapter.dispatch_request(request, agent=agent)


@app.post("/chat")
async def chat(request: Request):
    return await VercelAIAdapter.dispatch_request(request, agent=agent)


@app.post("/api/chat")
async def approving_chat(request: Request):
    return await VercelAIAdapter.dispatch_request(request, agent=agent, sdk_version=6)


uvicorn.run(app, host="127.0.0.1", port=int(os.environ["PORT"]), timeout_keep_alive=600)  # clients reuse connections on a slow machine
