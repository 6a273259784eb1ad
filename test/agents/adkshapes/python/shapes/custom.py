"""Agents whose author wrote the control flow."""

import asyncio

from google.adk.agents import BaseAgent, LlmAgent
from google.adk.events import Event, EventActions
from google.genai import types

from .containers import speaker, tooled
from .registry import shape


def said(agent, ctx, words, **options):
    return Event(author=agent.name, invocation_id=ctx.invocation_id, branch=ctx.branch,
                 content=types.Content(role="model", parts=[types.Part(text=words)]), **options)


class InTurn(BaseAgent):
    """Runs its sub-agents one after another, each once."""

    async def _run_async_impl(self, ctx):
        for agent in self.sub_agents:
            async for event in agent.run_async(ctx):
                yield event


class Chooser(BaseAgent):
    """Runs the first sub-agent, and by what it said one of the others, then speaks itself."""

    async def _run_async_impl(self, ctx):
        last = ""
        async for event in self.sub_agents[0].run_async(ctx):
            if event.content and event.content.parts and event.content.parts[0].text:
                last = event.content.parts[0].text
            yield event
        chosen = self.sub_agents[1] if "yes" in last else self.sub_agents[2]
        async for event in chosen.run_async(ctx):
            yield event
        yield said(self, ctx, "Chosen: " + chosen.name)


class Twice(BaseAgent):
    """Runs its only sub-agent twice."""

    async def _run_async_impl(self, ctx):
        for _ in range(2):
            async for event in self.sub_agents[0].run_async(ctx):
                yield event


class Reporter(BaseAgent):
    """Has no model: it yields events of its own."""

    async def _run_async_impl(self, ctx):
        await asyncio.sleep(0.1)
        yield said(self, ctx, "Half way.")
        await asyncio.sleep(0.1)
        yield said(self, ctx, "Done.", actions=EventActions(state_delta={"done": True}))


class Crasher(BaseAgent):
    async def _run_async_impl(self, ctx):
        yield said(self, ctx, "About to fail.")
        await asyncio.sleep(0.1)
        raise RuntimeError("the agent's own code failed")


@shape()
def custom_in_turn():
    return InTurn(name="director", sub_agents=[speaker("first", 0.2), tooled("second"), speaker("third")])


@shape(streamed=True)
def custom_chooser():
    return Chooser(name="custom_chooser", sub_agents=[speaker("judge", said="yes"), speaker("yea", 0.2), speaker("nay")])


@shape()
def custom_twice():
    return Twice(name="custom_twice", sub_agents=[speaker("worker")])


@shape()
def custom_events():
    return Reporter(name="reporter")


@shape()
def custom_crashes():
    return Crasher(name="custom_crashes")


@shape()
def custom_under_boss():
    from .transfers import boss, to
    director = InTurn(name="director", description="Directs.", sub_agents=[speaker("first"), speaker("second")])
    return boss(to("director"), sub_agents=[director])
