"""Agno's AgentOS: one agent and one team, by its native API, AG-UI and A2A."""

import os

from agno.agent import Agent
from agno.db.in_memory import InMemoryDb
from agno.models.openai.like import OpenAILike
from agno.os import AgentOS
from agno.os.interfaces.a2a import A2A
from agno.os.interfaces.agui import AGUI
from agno.team import Team
from agno.tools import tool
import uvicorn


def weather(city: str) -> str:
    """Returns the weather."""
    return f"sunny in {city}"


def broken(reason: str) -> str:
    """Fails."""
    raise ValueError(f"no luck: {reason}")


@tool(requires_confirmation=True)
def pay(amount: int) -> str:
    """Pays, if somebody agrees."""
    return f"paid {amount}"


def model():
    return OpenAILike(id="scripted", base_url=os.environ["MODEL_URL"], api_key="none", max_retries=0)


db = InMemoryDb()
agent = Agent(id="meteorologist", name="meteorologist", model=model(), tools=[weather, broken, pay], db=db, telemetry=False, add_history_to_context=True)
expert = Agent(id="expert", name="expert", role="knows it all", model=model(), telemetry=False)
team = Team(id="team", name="team", model=model(), members=[expert], db=db, telemetry=False)
app = AgentOS(agents=[agent], teams=[team], interfaces=[AGUI(agent=agent), AGUI(team=team, prefix="/team"), A2A(agents=[agent], teams=[team])], telemetry=False).get_app()
uvicorn.run(app, host="127.0.0.1", port=int(os.environ["PORT"]))
