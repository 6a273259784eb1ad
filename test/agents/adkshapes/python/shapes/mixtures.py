"""Transfers in containers, beside what else their agents do."""

from google.adk.agents import LoopAgent, ParallelAgent

from scripted import call, say

from .containers import speaker, tooled
from .plain import weather
from .registry import shape
from .transfers import boss, to


@shape()
def loop_step_transfers():
    """Every round of the lead uses a tool before it hands over."""
    lead = boss(call("weather", city="Rome"), to("expert"), name="lead", tools=[weather], sub_agents=[speaker("expert")])
    return LoopAgent(name="rounds", max_iterations=2, sub_agents=[lead])


@shape()
def parallel_branch_transfers_back():
    """The expert of one branch hands back to the branch's agent."""
    lead = boss(to("expert"), say("The lead goes on."), name="lead", sub_agents=[boss(to("lead"), name="expert")])
    return ParallelAgent(name="fan", sub_agents=[lead, tooled("right", after=0.2)])
