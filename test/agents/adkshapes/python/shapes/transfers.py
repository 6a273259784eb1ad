"""Control that is handed on by transfer_to_agent."""

from google.adk.agents import LlmAgent, LoopAgent, ParallelAgent, SequentialAgent
from google.adk.tools import FunctionTool, ToolContext

from scripted import call, called, calls, fail, model, say

from .containers import leaver, speaker, tooled
from .plain import broken, weather
from .registry import shape, text


def to(name, after=0.1):
    return call("transfer_to_agent", agent_name=name, after=after)


def hand_over(tool_context: ToolContext) -> dict:
    """Hands the control on by itself."""
    tool_context.actions.transfer_to_agent = "expert"
    return {"handed": True}


def boss(*turns, name="boss", **options):
    return LlmAgent(name=name, description="Leads.", model=model(*turns), **options)


@shape(streamed=True)
def transfer():
    return boss(to("expert"), sub_agents=[tooled("expert")])


@shape()
def transfer_same_name():
    return boss(to("expert"), name="transfer_same_name", sub_agents=[tooled("expert")])


@shape(streamed=True)
def transfer_twice():
    clerk = boss(to("expert"), name="clerk", sub_agents=[speaker("expert", 0.2)])
    return boss(to("clerk"), name="transfer_twice", sub_agents=[clerk])


@shape(streamed=True)
def transfer_back():
    expert = boss(to("boss"), name="expert")
    return boss(to("expert"), say("I am back.", after=0.2), sub_agents=[expert])


@shape()
def transfer_back_and_down():
    expert = boss(to("boss"), say("Second visit."), name="expert")
    return boss(to("expert"), to("expert"), sub_agents=[expert])


@shape()
def transfer_to_peer():
    one = boss(to("two"), name="one")
    return boss(to("one"), name="transfer_to_peer", sub_agents=[one, speaker("two", 0.2)])


@shape()
def transfer_after_tool():
    return boss(call("weather", city="Rome"), to("expert"), tools=[weather], sub_agents=[speaker("expert", 0.2)])


@shape()
def transfer_beside_tool():
    turn = calls(called("weather", city="Rome"), called("transfer_to_agent", agent_name="expert"))
    return boss(turn, tools=[weather], sub_agents=[speaker("expert", 0.2)])


@shape()
def transfer_by_tool():
    return boss(call("hand_over"), tools=[hand_over], sub_agents=[speaker("expert", 0.2)])


@shape()
def transfer_to_sequence():
    team = SequentialAgent(name="team", description="Works.", sub_agents=[speaker("first"), speaker("second", 0.2)])
    return boss(to("team"), name="transfer_to_sequence", sub_agents=[team])


@shape()
def transfer_to_parallel():
    fan = ParallelAgent(name="fan", description="Works.", sub_agents=[speaker("left"), speaker("right", 0.2)])
    return boss(to("fan"), sub_agents=[fan])


@shape()
def transfer_to_loop():
    loop = LoopAgent(name="refine", description="Works.", max_iterations=4, sub_agents=[speaker("writer"), leaver("critic", 2)])
    return boss(to("refine"), sub_agents=[loop])


@shape(streamed=True)
def transfer_to_parallel_merger():
    team = SequentialAgent(name="team", description="Works.", sub_agents=[
        ParallelAgent(name="fan", sub_agents=[speaker("left"), tooled("right")]), speaker("merger")])
    return boss(to("team"), sub_agents=[team])


@shape()
def transfer_in_sequence():
    lead = boss(to("expert"), name="lead", sub_agents=[speaker("expert", 0.2)])
    return SequentialAgent(name="pipeline", sub_agents=[lead, speaker("closer")])


@shape()
def transfer_in_loop():
    lead = boss(to("expert"), name="lead", sub_agents=[speaker("expert", 0.2)])
    return LoopAgent(name="rounds", max_iterations=2, sub_agents=[lead])


@shape()
def transfer_in_sequence_back():
    """The expert hands back to the step's agent, which ends the step."""
    lead = boss(to("expert"), say("Back in the step."), name="lead", sub_agents=[boss(to("lead"), name="expert")])
    return SequentialAgent(name="transfer_in_sequence_back", sub_agents=[lead, speaker("closer")])


@shape()
def transfer_in_parallel():
    lead = boss(to("expert"), name="lead", sub_agents=[speaker("expert", 0.2)])
    return ParallelAgent(name="transfer_in_parallel", sub_agents=[lead, speaker("other")])


@shape()
def transfer_to_unknown():
    return boss(to("nobody"), say("No such agent."), sub_agents=[speaker("expert")])


@shape(steps=[text("go"), text("and now?")])
def transfer_asked_again():
    """The second question is answered by the agent that answered the first."""
    expert = LlmAgent(name="expert", description="Knows.", model=model(say("First answer."), say("Second answer.")))
    return boss(to("expert"), say("Not asked."), sub_agents=[expert])


AGAIN = [text("go"), text("and now?")]


@shape(steps=AGAIN)
def asked_again_back():
    """The agent that answers the second question hands it to its parent."""
    return boss(to("expert"), say("I am back."), sub_agents=[boss(say("First answer."), to("boss"), name="expert")])


@shape(steps=AGAIN)
def asked_again_down():
    clerk = boss(say("First answer."), to("expert"), name="clerk", sub_agents=[speaker("expert", 0.2)])
    return boss(to("clerk"), name="asked_again_down", sub_agents=[clerk])


@shape(steps=AGAIN)
def asked_again_up():
    clerk = boss(to("expert"), say("Back at the clerk."), name="clerk", sub_agents=[
        boss(say("First answer."), to("clerk"), name="expert")])
    return boss(to("clerk"), sub_agents=[clerk])


@shape(steps=AGAIN)
def asked_again_peer():
    one = boss(say("First answer."), to("two"), name="one")
    return boss(to("one"), sub_agents=[one, speaker("two", 0.2)])


@shape(steps=AGAIN)
def asked_again_tool_raises():
    expert = boss(say("First answer."), call("broken", reason="x"), name="expert", tools=[broken])
    return boss(to("expert"), sub_agents=[expert])


@shape(steps=AGAIN)
def asked_again_confirmation():
    expert = boss(say("First answer."), call("weather", city="Rome"), name="expert",
                  tools=[FunctionTool(weather, require_confirmation=True)])
    return boss(to("expert"), sub_agents=[expert])


@shape()
def transfer_in_parallel_back():
    lead = boss(to("expert"), say("Back in the branch."), name="lead", sub_agents=[boss(to("lead"), name="expert")])
    return ParallelAgent(name="fan", sub_agents=[lead, speaker("other")])


@shape()
def transfer_to_parallel_back():
    lead = boss(to("expert"), say("Back in the branch."), name="lead", sub_agents=[boss(to("lead"), name="expert")])
    return boss(to("fan"), sub_agents=[ParallelAgent(name="fan", description="Works.", sub_agents=[lead, speaker("other")])])


@shape()
def transferred_step_fails():
    """The error names the first step as its author, although the second failed."""
    second = LlmAgent(name="second", model=model(fail(503)))
    team = SequentialAgent(name="team", description="Works.", sub_agents=[speaker("first"), second])
    return boss(to("team"), sub_agents=[team])
