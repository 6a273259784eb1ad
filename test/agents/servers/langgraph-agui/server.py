"""A deep agent of LangGraph by AG-UI, with a subagent, and a graph of two nodes that asks."""

import os

import uvicorn
from ag_ui_langgraph import LangGraphAgent, add_langgraph_fastapi_endpoint
from deepagents import create_deep_agent
from fastapi import FastAPI
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI
from langgraph.checkpoint.memory import MemorySaver
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.types import interrupt

model = ChatOpenAI(model="scripted", max_retries=0)


@tool
def weather(city: str) -> str:
    """Returns the weather."""
    return f"sunny in {city}"


@tool
def broken(reason: str) -> str:
    """Fails."""
    raise ValueError(f"no luck: {reason}")


def ask(state):
    return {"messages": [("assistant", f"You said {interrupt({'question': 'Which city?'})}.")]}


deep = create_deep_agent(
    model=model, tools=[weather, broken], system_prompt="You know the weather.", checkpointer=MemorySaver(), name="meteorologist",
    subagents=[{"name": "expert", "description": "knows it all", "system_prompt": "You know it all.", "tools": [weather]}],
)
asking = StateGraph(MessagesState).add_node("ask", ask).add_edge(START, "ask").add_edge("ask", END).compile(checkpointer=MemorySaver())
app = FastAPI()
add_langgraph_fastapi_endpoint(app, LangGraphAgent(name="meteorologist", graph=deep), "/agent")
add_langgraph_fastapi_endpoint(app, LangGraphAgent(name="asking", graph=asking), "/asking")
uvicorn.run(app, host="127.0.0.1", port=int(os.environ["PORT"]))
