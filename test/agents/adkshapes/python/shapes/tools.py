"""Agents behind tools."""

from google.adk.agents import LlmAgent, ParallelAgent, SequentialAgent
from google.adk.tools import AgentTool

from scripted import call, called, calls, fail, model, say

from .plain import weather
from .registry import shape


def summarizer(name="summarizer", **options):
    return LlmAgent(name=name, description="Shortens a text.", model=model(say("Short.", after=0.2)), **options)


@shape(streamed=True)
def agent_tool():
    return LlmAgent(name="agent_tool", tools=[AgentTool(agent=summarizer())],
                    model=model(call("summarizer", request="shorten"), say("Done: short.")))


@shape()
def agent_tool_with_tool():
    expert = LlmAgent(name="expert", description="Knows the weather.", tools=[weather],
                      model=model(call("weather", city="Rome"), say("Sunny.")))
    return LlmAgent(name="boss", tools=[AgentTool(agent=expert)],
                    model=model(call("expert", request="Rome"), say("The expert says sunny.")))


@shape()
def agent_tool_sequential():
    team = SequentialAgent(name="team", description="Writes.", sub_agents=[
        LlmAgent(name="drafter", model=model(say("Draft.", after=0.1))),
        LlmAgent(name="editor", model=model(say("Edited.", after=0.1)))])
    return LlmAgent(name="boss", tools=[AgentTool(agent=team)],
                    model=model(call("team", request="write"), say("The team is done.")))


@shape()
def agent_tools_parallel():
    return LlmAgent(name="agent_tools_parallel", tools=[AgentTool(agent=summarizer()), AgentTool(agent=summarizer("titler"))],
                    model=model(calls(called("summarizer", request="a"), called("titler", request="b")), say("Both done.")))


@shape()
def agent_tool_twice():
    return LlmAgent(name="agent_tool_twice", tools=[AgentTool(agent=summarizer())],
                    model=model(call("summarizer", request="a"), call("summarizer", request="b"), say("Done twice.")))


@shape()
def agent_tool_fails():
    expert = LlmAgent(name="expert", description="Fails.", model=model(fail(503, after=0.1)))
    return LlmAgent(name="boss", tools=[AgentTool(agent=expert)],
                    model=model(call("expert", request="Rome"), say("Never said.")))


@shape()
def agent_tool_in_branches():
    def branch(name):
        return LlmAgent(name=name, tools=[AgentTool(agent=summarizer(name + "_summarizer"))],
                        model=model(call(name + "_summarizer", request="x"), say("Done.")))

    return ParallelAgent(name="fan", sub_agents=[branch("left"), branch("right")])


@shape()
def agent_tool_parallel():
    fan = ParallelAgent(name="fan", description="Works.", sub_agents=[
        LlmAgent(name="left", model=model(say("Left.", after=0.1))),
        LlmAgent(name="right", model=model(say("Right.", after=0.2)))])
    return LlmAgent(name="agent_tool_parallel", tools=[AgentTool(agent=fan)],
                    model=model(call("fan", request="go"), say("Both sides heard.")))


@shape()
def agent_tool_nested():
    middle = LlmAgent(name="middle", description="Asks others.", tools=[AgentTool(agent=summarizer())],
                      model=model(call("summarizer", request="x"), say("Passed on.")))
    return LlmAgent(name="boss", tools=[AgentTool(agent=middle)], model=model(call("middle", request="x"), say("Done.")))
