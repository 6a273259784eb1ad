"""Sequential, parallel and loop agents, alone and in one another."""

from google.adk.agents import LlmAgent, LoopAgent, ParallelAgent, SequentialAgent
from google.adk.tools import ToolContext, exit_loop

from scripted import call, model, say

from .plain import clock, weather
from .registry import shape


def speaker(name, after=0.1, said=None, **options):
    return LlmAgent(name=name, model=model(say(said or name + " speaks.", after=after)), **options)


def tooled(name, tool=weather, after=0.05):
    return LlmAgent(name=name, tools=[tool], model=model(call(tool.__name__, city="Rome", after=after), say(name + " knows.")))


def leaver(name, rounds):
    """Speaks for some rounds and then leaves the loop."""
    turns = [say(f"{name} wants more.", after=0.05) for _ in range(rounds - 1)]
    return LlmAgent(name=name, tools=[exit_loop], model=model(*turns, call("exit_loop", after=0.05)))


def escalate(tool_context: ToolContext) -> dict:
    """Leaves the loop, and lets the model go on."""
    tool_context.actions.escalate = True
    return {"left": True}


@shape(streamed=True)
def sequential():
    return SequentialAgent(name="sequential", sub_agents=[speaker("first", 0.2), speaker("second"), speaker("third")])


@shape()
def sequential_renamed():
    return SequentialAgent(name="pipeline", sub_agents=[speaker("first", 0.2), tooled("second")])


@shape(streamed=True)
def parallel():
    return ParallelAgent(name="fan", sub_agents=[speaker("quick", 0.05), speaker("middle", 0.15), speaker("slow", 0.3)])


@shape(streamed=True)
def parallel_with_tools():
    return ParallelAgent(name="parallel_with_tools", sub_agents=[tooled("left"), tooled("right", clock)])


@shape(streamed=True)
def loop_exit():
    return LoopAgent(name="loop_exit", max_iterations=5, sub_agents=[speaker("writer"), leaver("critic", 3)])


@shape()
def loop_escalate():
    critic = LlmAgent(name="critic", tools=[escalate], model=model(say("More."), call("escalate"), say("Good now.")))
    return LoopAgent(name="refine", max_iterations=5, sub_agents=[speaker("writer"), critic])


@shape()
def loop_max():
    return LoopAgent(name="rounds", max_iterations=3, sub_agents=[speaker("writer"), speaker("critic", 0.05)])


@shape()
def loop_single():
    return LoopAgent(name="loop_single", max_iterations=3, sub_agents=[speaker("writer")])


@shape(streamed=True)
def planner_then_parallel():
    return SequentialAgent(name="trip", sub_agents=[
        speaker("planner", 0.4), ParallelAgent(name="fan", sub_agents=[speaker("flights"), speaker("hotels", 0.2)])])


@shape()
def planner_parallel_merger():
    return SequentialAgent(name="planner_parallel_merger", sub_agents=[
        speaker("planner", 0.4), ParallelAgent(name="fan", sub_agents=[tooled("flights"), speaker("hotels", 0.2)]),
        speaker("merger")])


@shape()
def parallel_of_sequentials():
    return ParallelAgent(name="fan", sub_agents=[
        SequentialAgent(name="left", sub_agents=[speaker("left_a"), speaker("left_b", 0.2)]),
        SequentialAgent(name="right", sub_agents=[speaker("right_a", 0.2), speaker("right_b")])])


@shape()
def parallel_in_parallel():
    return ParallelAgent(name="parallel_in_parallel", sub_agents=[
        ParallelAgent(name="inner", sub_agents=[speaker("a"), speaker("b", 0.2)]), speaker("c", 0.3)])


@shape()
def parallel_twice():
    return SequentialAgent(name="rounds", sub_agents=[
        ParallelAgent(name="fan_one", sub_agents=[speaker("a"), speaker("b", 0.15)]),
        ParallelAgent(name="fan_two", sub_agents=[speaker("c"), speaker("d", 0.15)])])


@shape()
def loop_of_sequential():
    return LoopAgent(name="loop_of_sequential", max_iterations=2, sub_agents=[
        SequentialAgent(name="step", sub_agents=[speaker("writer"), speaker("critic", 0.05)])])


@shape()
def loop_of_parallel():
    return LoopAgent(name="rounds", max_iterations=2, sub_agents=[
        ParallelAgent(name="fan", sub_agents=[speaker("a"), speaker("b", 0.2)])])


@shape()
def loop_in_loop():
    inner = LoopAgent(name="inner", max_iterations=2, sub_agents=[speaker("writer", 0.05)])
    return LoopAgent(name="outer", max_iterations=2, sub_agents=[inner, speaker("critic", 0.1)])


@shape(streamed=True)
def sequence_with_loop():
    return SequentialAgent(name="story", sub_agents=[
        LoopAgent(name="refine", max_iterations=5, sub_agents=[speaker("writer"), leaver("critic", 2)]), speaker("publisher")])


@shape()
def sequence_in_sequence():
    return SequentialAgent(name="sequence_in_sequence", sub_agents=[
        speaker("first"), SequentialAgent(name="inner", sub_agents=[speaker("second"), speaker("third", 0.2)]),
        speaker("fourth")])


@shape()
def deep_nesting():
    fan = ParallelAgent(name="fan", sub_agents=[
        SequentialAgent(name="left", sub_agents=[tooled("left_a"), speaker("left_b")]),
        LoopAgent(name="right", max_iterations=2, sub_agents=[speaker("right_a", 0.05)])])
    return SequentialAgent(name="outer", sub_agents=[speaker("planner", 0.2), fan, speaker("merger")])
