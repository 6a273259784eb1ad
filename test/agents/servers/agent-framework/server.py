"""Microsoft's Agent Framework by AG-UI: an agent, and a workflow of two."""

import os

import uvicorn
from agent_framework import Agent, WorkflowBuilder, tool
from agent_framework_ag_ui import AgentFrameworkWorkflow, add_agent_framework_fastapi_endpoint
from agent_framework_openai import OpenAIChatCompletionClient
from fastapi import FastAPI


@tool(approval_mode="never_require")
def weather(city: str) -> str:
    """Returns the weather."""
    return f"sunny in {city}"


@tool(approval_mode="never_require")
def broken(reason: str) -> str:
    """Fails."""
    raise ValueError(f"no luck: {reason}")


@tool(approval_mode="always_require")
def pay(amount: int) -> str:
    """Pays, if somebody agrees."""
    return f"paid {amount}"


client = OpenAIChatCompletionClient(model="scripted", base_url=os.environ["MODEL_URL"], api_key="none")
app = FastAPI()
meteorologist = Agent(name="meteorologist", client=client, tools=[weather, broken, pay])
add_agent_framework_fastapi_endpoint(app, meteorologist, "/", single_user=True)
writer, editor = Agent(name="writer", client=client), Agent(name="editor", client=client)
chain = WorkflowBuilder(start_executor=writer).add_edge(writer, editor).build()
add_agent_framework_fastapi_endpoint(app, AgentFrameworkWorkflow(workflow=chain), "/workflow", single_user=True)
uvicorn.run(app, host="127.0.0.1", port=int(os.environ["PORT"]))
