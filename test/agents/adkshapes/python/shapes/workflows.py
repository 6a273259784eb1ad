"""Workflow graphs (ADK 2)."""

import asyncio

from google.adk.agents import LlmAgent, ParallelAgent, SequentialAgent
from google.adk.agents.context import Context
from google.adk.events import Event, RequestInput
from google.adk.tools import FunctionTool
from google.adk.workflow import START, JoinNode, RetryConfig, Workflow, node
from google.genai import types

from scripted import call, fail, model, say

from .containers import speaker, tooled
from .plain import weather
from .registry import answer, shape, text
from .transfers import boss, to

FAILED = set()


def step(name, after=0.1, **options):
    """A function node that says its name."""

    async def run(node_input):
        await asyncio.sleep(after)
        return name + " done"

    run.__name__ = name
    return node(run, name=name, **options)


@shape(needs=2)
def workflow_chain():
    return Workflow(name="chain", edges=[(START, step("fetch"), step("clean", 0.2), step("store"))])


@shape(needs=2, streamed=True)
def workflow_agents():
    return Workflow(name="workflow_agents", edges=[
        (START, step("fetch"), tooled("analyst"), step("clean"), speaker("writer", 0.2))])


@shape(needs=2, streamed=True)
def workflow_fan_out():
    join = JoinNode(name="join")
    return Workflow(name="graph", edges=[
        (START, step("split"), (speaker("left"), speaker("right", 0.3), step("middle", 0.2)), join, step("merge"))])


@shape(needs=2)
def workflow_fan_out_twice():
    one, two = JoinNode(name="join_one"), JoinNode(name="join_two")
    return Workflow(name="workflow_fan_out_twice", edges=[
        (START, (speaker("a"), speaker("b", 0.2)), one, (speaker("c"), step("d", 0.2)), two, step("merge"))])


@shape(needs=2)
def workflow_retry():
    async def flaky(ctx: Context):
        await asyncio.sleep(0.1)
        if ctx.session.id not in FAILED:
            FAILED.add(ctx.session.id)
            raise ValueError("the first try fails")
        return "second try"

    retry = RetryConfig(max_attempts=3, initial_delay=0.1, jitter=0.0)
    return Workflow(name="workflow_retry", edges=[(START, step("fetch"), node(flaky, retry_config=retry), step("store"))])


@shape(needs=2)
def workflow_retry_agent():
    retry = RetryConfig(max_attempts=3, initial_delay=0.1, jitter=0.0)
    flaky = LlmAgent(name="flaky", model=model(fail(503, after=0.1), say("Second try.")), retry_config=retry)
    return Workflow(name="graph", edges=[(START, flaky, step("store"))])


@shape(needs=2)
def workflow_route():
    def decide():
        return Event(output="decided", route="good")

    return Workflow(name="graph", edges=[
        (START, speaker("drafter"), node(decide), {"good": speaker("publisher", 0.2), "bad": step("reject")})])


@shape(needs=2)
def workflow_loop():
    async def judge(ctx: Context):
        await asyncio.sleep(0.05)
        rounds = ctx.state.get("rounds", 0) + 1
        return Event(output=f"round {rounds}", route="enough" if rounds == 3 else "again", state={"rounds": rounds})

    writer, decide = speaker("writer"), node(judge)
    return Workflow(name="workflow_loop", edges=[(START, writer, decide, {"again": writer, "enough": step("publish")})])


@shape(needs=2)
def workflow_nested():
    inner = Workflow(name="inner", edges=[(START, step("dig"), speaker("miner", 0.2))])
    return Workflow(name="outer", edges=[(START, step("fetch"), inner, step("store"))])


@shape(needs=2)
def workflow_nested_twice():
    inner = Workflow(name="inner", edges=[(START, speaker("miner"))])

    async def again(ctx: Context, node_input):
        rounds = ctx.state.get("rounds", 0) + 1
        return Event(output="x", route="enough" if rounds == 2 else "again", state={"rounds": rounds})

    return Workflow(name="workflow_nested_twice", edges=[
        (START, inner, node(again), {"again": inner, "enough": step("store")})])


@shape(needs=2)
def workflow_as_tool():
    graph = Workflow(name="graph", description="Works.", input_schema=str, edges=[(START, step("dig"), speaker("miner", 0.2))])
    return boss(call("graph", request="x"), say("The graph is done."), tools=[graph])


@shape(needs=2)
def workflow_tool_node():
    return Workflow(name="workflow_tool_node", edges=[(START, rome, FunctionTool(weather), step("store"))])


def rome():
    return {"city": "Rome"}


@shape(needs=2)
def workflow_silent_node():
    """A node without an output leaves no frame."""

    async def quiet():
        await asyncio.sleep(0.1)

    return Workflow(name="workflow_silent_node", edges=[(START, node(quiet), speaker("writer", 0.2))])


@shape(needs=2)
def workflow_node_events():
    async def reporter():
        for said in "Half way.", "Done.":
            await asyncio.sleep(0.1)
            yield Event(content=types.Content(role="model", parts=[types.Part(text=said)]))
        yield "reported"

    return Workflow(name="graph", edges=[(START, node(reporter), speaker("writer"))])


@shape(needs=2)
def workflow_node_raises():
    async def explode():
        await asyncio.sleep(0.1)
        raise ValueError("the node failed")

    return Workflow(name="graph", edges=[(START, step("fetch"), node(explode), step("store"))])


@shape(needs=2)
def workflow_branch_raises():
    async def explode():
        await asyncio.sleep(0.15)
        raise ValueError("the node failed")

    join = JoinNode(name="join")
    return Workflow(name="workflow_branch_raises", edges=[
        (START, (speaker("quick", 0.05), node(explode), speaker("slow", 1.3)), join)])


@shape(needs=2)
def workflow_agent_fails():
    return Workflow(name="graph", edges=[
        (START, step("fetch"), LlmAgent(name="writer", model=model(fail(429, after=0.1))), step("store"))])


@shape(needs=2, steps=[text("go"), answer("adk_request_input", {"result": "yes"})])
def workflow_request_input():
    def ask():
        yield RequestInput(message="Go on?")

    return Workflow(name="workflow_request_input", edges=[(START, step("fetch"), node(ask), speaker("writer", 0.2))])


@shape(needs=2, steps=[text("go"), answer("adk_request_input", {"confirmed": True})])
def workflow_confirmation():
    return Workflow(name="graph", edges=[
        (START, speaker("planner"), step("delete", require_confirmation=True), step("store"))])


@shape(needs=2)
def workflow_parallel_worker():
    def items():
        return ["a", "b", "c"]

    return Workflow(name="graph", edges=[
        (START, node(items), node(speaker("reviewer"), parallel_worker=True), step("store"))])


@shape(needs=2)
def workflow_task_node():
    worker = LlmAgent(name="worker", mode="task", tools=[weather],
                      model=model(call("weather", city="Rome"), call("finish_task", result="sunny")))
    return Workflow(name="graph", edges=[(START, step("fetch"), worker, step("store"))])


@shape(needs=2)
def workflow_agent_transfers():
    lead = boss(to("expert"), name="lead", sub_agents=[speaker("expert", 0.2)], mode="chat")
    return Workflow(name="graph", edges=[(START, lead, step("store"))])


@shape(needs=2)
def workflow_sequence_node():
    """The older containers as nodes."""
    pair = SequentialAgent(name="pair", sub_agents=[speaker("one"), speaker("two", 0.2)])
    fan = ParallelAgent(name="fan", sub_agents=[speaker("left"), speaker("right", 0.2)])
    return Workflow(name="workflow_sequence_node", edges=[(START, step("fetch"), pair, fan, step("store"))])


@shape(needs=2)
def workflow_lanes():
    """What follows in a branch stays in it."""
    join, left, right, after = JoinNode(name="join"), step("left", 0.5), step("right", 0.05), step("after", 0.9)
    return Workflow(name="graph", edges=[(START, (left, right)), (right, after), (left, join), (after, join)])


@shape(needs=2)
def workflow_lanes_agents():
    join, left, right, after = JoinNode(name="join"), speaker("left", 0.5), speaker("right", 0.05), speaker("after", 0.9)
    return Workflow(name="workflow_lanes_agents", edges=[(START, (left, right)), (right, after), (left, join), (after, join)])


@shape(needs=2)
def workflow_lanes_both():
    join = JoinNode(name="join")
    left, right = speaker("left", 0.4), speaker("right", 0.05)
    left_after, right_after = speaker("left_after", 0.2), speaker("right_after", 0.9)
    return Workflow(name="graph", edges=[(START, (left, right)), (left, left_after), (right, right_after),
                                         ((left_after, right_after), join), (join, step("store"))])


@shape(needs=2)
def workflow_lane_nested():
    join, left, right = JoinNode(name="join"), speaker("left", 0.5), speaker("right", 0.05)
    inner = Workflow(name="inner", edges=[(START, step("dig"), speaker("miner", 0.9))])
    return Workflow(name="graph", edges=[(START, (left, right)), (right, inner), (left, join), (inner, join)])


@shape(needs=2)
def workflow_lane_loop():
    async def judge(ctx: Context):
        rounds = ctx.state.get("rounds", 0) + 1
        return Event(output=f"round {rounds}", route="enough" if rounds == 3 else "again", state={"rounds": rounds})

    join, writer, decide, slow = JoinNode(name="join"), speaker("writer", 0.2), node(judge), speaker("slow", 0.7)
    return Workflow(name="graph", edges=[(START, (writer, slow)), (writer, decide), (decide, {"again": writer, "enough": join}),
                                         (slow, join), (join, step("store"))])


@shape(needs=2)
def workflow_two_ends():
    """Two last nodes with an output are the workflow's own error."""
    return Workflow(name="graph", edges=[(START, (step("left"), step("right", 0.2)))])


@shape(needs=2)
def workflow_two_ends_nested():
    inner = Workflow(name="inner", edges=[(START, (step("left"), step("right", 0.2)))])
    return Workflow(name="workflow_two_ends_nested", edges=[(START, inner)])


@shape(needs=2)
def workflow_as_tool_fails():
    graph = Workflow(name="graph", description="Works.", input_schema=str, edges=[(START, node(explode))])
    return boss(call("graph", request="x"), say("Never said."), tools=[graph])


@shape(needs=2)
def workflow_as_tool_fails_handled():
    graph = Workflow(name="graph", description="Works.", input_schema=str, edges=[(START, node(explode))])
    return boss(call("graph", request="x"), say("Handled."), tools=[graph], on_tool_error_callback=handled)


@shape(needs=2)
def workflow_parallel_worker_raises():
    async def pick(node_input):
        await asyncio.sleep(0.1)
        if node_input == "b":
            raise ValueError("the node failed")
        await asyncio.sleep(0.8)
        return "picked"

    return Workflow(name="graph", edges=[(START, node(items), node(pick, parallel_worker=True), step("store"))])


@shape(needs=2)
def workflow_agent_raises():
    """The first thing that the agent's model does is to raise."""
    return Workflow(name="graph", edges=[(START, LlmAgent(name="writer", model=model(fail(RuntimeError("no model")))))])


@shape(needs=2)
def workflow_retry_sequence():
    retry = RetryConfig(max_attempts=3, initial_delay=0.1, jitter=0.0)
    second = LlmAgent(name="second", model=model(fail(RuntimeError("no model"), after=0.1), say("Second try.")))
    pair = SequentialAgent(name="pair", sub_agents=[speaker("first"), second])
    return Workflow(name="graph", edges=[(START, node(pair, retry_config=retry), step("store"))])


@shape(needs=2)
def workflow_retry_nested():
    retry = RetryConfig(max_attempts=3, initial_delay=0.1, jitter=0.0)

    async def flaky(ctx: Context):
        if ctx.session.id not in FAILED:
            FAILED.add(ctx.session.id)
            raise ValueError("the first try fails")
        return "second try"

    inner = Workflow(name="inner", retry_config=retry, edges=[(START, step("dig"), node(flaky))])
    return Workflow(name="graph", edges=[(START, inner)])


async def explode():
    await asyncio.sleep(0.1)
    raise ValueError("the node failed")


def items():
    return ["a", "b"]


def handled(tool, args, tool_context, error):
    return {"handled": True}


@shape(needs=2)
def workflow_retry_agent_with_tool():
    """The first try fails after a tool has answered."""
    retry = RetryConfig(max_attempts=3, initial_delay=0.2, jitter=0.0)
    flaky = LlmAgent(name="flaky", tools=[weather], retry_config=retry,
                     model=model(call("weather", city="Rome"), fail(503), call("weather", city="Rome"), say("Second try.")))
    return Workflow(name="graph", edges=[(START, flaky, step("store"))])
