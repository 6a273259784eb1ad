"""Nodes that run other nodes themselves (ADK 2: ctx.run_node)."""

import asyncio

from google.adk.agents.context import Context
from google.adk.events import RequestInput
from google.adk.workflow import START, Workflow, node

from .containers import speaker, tooled
from .registry import answer, shape, text
from .workflows import step


def graph(name, run, **options):
    return Workflow(name=name, edges=[(START, node(run, rerun_on_resume=True, **options), step("store"))])


@shape(needs=2)
def dynamic_once():
    worker = tooled("worker")

    async def orchestrate(ctx: Context):
        return await ctx.run_node(worker, "x")

    return graph("dynamic_once", orchestrate)


@shape(needs=2)
def dynamic_twice():
    worker = speaker("worker")

    async def orchestrate(ctx: Context):
        first = await ctx.run_node(worker, "x")
        return await ctx.run_node(worker, first)

    return graph("graph", orchestrate)


@shape(needs=2, streamed=True)
def dynamic_parallel():
    worker = speaker("worker")

    async def orchestrate(ctx: Context):
        return await asyncio.gather(*(ctx.run_node(worker, item, use_sub_branch=True) for item in "ab"))

    return graph("graph", orchestrate)


@shape(needs=2)
def dynamic_parallel_unbranched():
    one, two = speaker("one", 0.2), speaker("two")

    async def orchestrate(ctx: Context):
        return await asyncio.gather(ctx.run_node(one, "a"), ctx.run_node(two, "b"))

    return graph("dynamic_parallel_unbranched", orchestrate)


@shape(needs=2)
def dynamic_functions():
    one, two = step("one"), step("two", 0.2)

    async def orchestrate(ctx: Context):
        await ctx.run_node(one, "a")
        return await ctx.run_node(two, "b")

    return graph("graph", orchestrate)


@shape(needs=2)
def dynamic_workflow():
    inner = Workflow(name="inner", edges=[(START, step("dig"), speaker("miner"))])

    async def orchestrate(ctx: Context):
        return await ctx.run_node(inner, "x")

    return graph("dynamic_workflow", orchestrate)


@shape(needs=2)
def node_as_root():
    """The root is no agent and no workflow, but a plain node."""

    async def lonely(ctx: Context):
        await asyncio.sleep(0.1)
        return "done"

    return node(lonely, name="lonely")


@shape(needs=2)
def dynamic_silent():
    """The node that runs the other has no output."""
    one = step("one")

    async def orchestrate(ctx: Context):
        await ctx.run_node(one, "a")

    return Workflow(name="graph", edges=[(START, node(orchestrate, rerun_on_resume=True))])


@shape(needs=2, steps=[text("go"), answer("adk_request_input", {"result": "yes"})])
def dynamic_asks():
    def ask():
        yield RequestInput(message="Go on?")

    async def orchestrate(ctx: Context):
        await ctx.run_node(node(ask), "a")
        return "done"

    return graph("dynamic_asks", orchestrate)
