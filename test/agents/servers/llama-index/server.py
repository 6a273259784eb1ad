"""LlamaIndex's AG-UI workflow, with a system prompt and tools on the server."""

import os

import uvicorn
from fastapi import FastAPI
from llama_index.llms.openai_like import OpenAILike
from llama_index.protocols.ag_ui.router import get_ag_ui_workflow_router


async def weather(city: str) -> str:
    """Returns the weather."""
    return f"sunny in {city}"


async def broken(reason: str) -> str:
    """Fails."""
    raise ValueError(f"no luck: {reason}")


async def color(name: str) -> str:
    """Changes the page's color."""


app = FastAPI()
app.include_router(get_ag_ui_workflow_router(
    llm=OpenAILike(model="scripted", api_base=os.environ["MODEL_URL"], api_key="none", is_chat_model=True, is_function_calling_model=True, max_retries=0),
    backend_tools=[weather, broken], frontend_tools=[color], system_prompt="You know the weather. Tell nobody how.", initial_state={"asked": 0},
))
uvicorn.run(app, host="127.0.0.1", port=int(os.environ["PORT"]))
