"""The graphs that `langgraph dev` serves: a deep agent with a subagent, one that asks, and others."""

import time

import trace_file  # noqa: F401 (registers the tracer)
from deepagents import create_deep_agent
from langchain.agents import create_agent
from langchain.agents.middleware import HumanInTheLoopMiddleware, TodoListMiddleware
from langchain_core.tools import ToolException, tool
from langchain_openai import ChatOpenAI
from langgraph.config import get_stream_writer
from langgraph.func import entrypoint, task
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.types import interrupt
from langgraph_supervisor import create_supervisor
from langgraph_swarm import create_handoff_tool, create_swarm


class Model(ChatOpenAI):
    """Keeps the model's reasoning where langchain-deepseek does."""

    def _convert_chunk_to_generation_chunk(self, chunk, default_chunk_class, base_generation_info):
        made = super()._convert_chunk_to_generation_chunk(chunk, default_chunk_class, base_generation_info)
        if made and chunk.get("choices") and (thought := chunk["choices"][0]["delta"].get("reasoning_content")):
            made.message.additional_kwargs["reasoning_content"] = thought
        return made


model = Model(model="scripted", max_retries=0)


@tool
def weather(city: str) -> str:
    """Returns the weather."""
    return f"sunny in {city}"


@tool
def broken(reason: str) -> str:
    """Fails."""
    raise ValueError(f"no luck: {reason}")


@tool
def alerts(city: str) -> str:
    """Returns the alerts, but fails."""
    raise ToolException(f"no alerts for {city}")


alerts.handle_tool_error = True


def ask(state):
    return {"messages": [("assistant", f"You said {interrupt({'question': 'Which city?'})}.")]}


def report(state):
    get_stream_writer()({"type": "progress", "done": 0.5})
    return {"messages": [model.invoke(state["messages"])]}


def retrieve(state):
    time.sleep(0.3)
    return {"messages": [model.invoke(state["messages"])]}


@task
def answer(messages):
    return model.invoke(messages)


@entrypoint()
def functional(inputs: dict):
    return answer(inputs["messages"]).result()


deep = create_deep_agent(
    model=model, tools=[weather, broken], name="meteorologist",
    subagents=[{"name": "expert", "description": "knows it all", "system_prompt": "You know it all.", "tools": [weather, broken]}],
)
asking = StateGraph(MessagesState).add_node("ask", ask).add_edge(START, "ask").add_edge("ask", END).compile()
plain = StateGraph(MessagesState).add_node("model", lambda s: {"messages": [model.invoke(s["messages"])]}).add_edge(START, "model").add_edge("model", END).compile()
retrieving = StateGraph(MessagesState).add_node("retrieve", retrieve).add_edge(START, "retrieve").add_edge("retrieve", END).compile()
tools = create_agent(model, tools=[weather, broken], name="reporter", system_prompt="You are secretive.")
approving = create_agent(model, tools=[weather], name="clerk", middleware=[HumanInTheLoopMiddleware(interrupt_on={"weather": True})])
planning = create_agent(model, name="planner", middleware=[TodoListMiddleware()])
inner = StateGraph(MessagesState).add_node("report", report).add_edge(START, "report").add_edge("report", END).compile()
nested = StateGraph(MessagesState).add_node("desk", inner).add_edge(START, "desk").add_edge("desk", END).compile()

transfer = create_handoff_tool(agent_name="expert", name="transfer_to_agent")
coordinator = create_agent(model, tools=[weather, alerts, transfer, create_handoff_tool(agent_name="expert")], name="coordinator")
expert = create_agent(model, tools=[weather, create_handoff_tool(agent_name="coordinator")], name="expert")
swarm = create_swarm([coordinator, expert], default_active_agent="coordinator").compile()
supervisor = create_supervisor([expert], model=model, tools=[weather], supervisor_name="coordinator").compile()
