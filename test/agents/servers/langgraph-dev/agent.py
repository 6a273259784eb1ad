"""The graphs that `langgraph dev` serves: a deep agent with a subagent, and one that asks."""

from deepagents import create_deep_agent
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI
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
    model=model, tools=[weather, broken], name="meteorologist",
    subagents=[{"name": "expert", "description": "knows it all", "system_prompt": "You know it all.", "tools": [weather]}],
)
asking = StateGraph(MessagesState).add_node("ask", ask).add_edge(START, "ask").add_edge("ask", END).compile()
plain = StateGraph(MessagesState).add_node("model", lambda s: {"messages": [model.invoke(s["messages"])]}).add_edge(START, "model").add_edge("model", END).compile()
