"""Models that fail, and where."""

from google.adk.agents import LlmAgent, LoopAgent, ParallelAgent, SequentialAgent

from scripted import call, fail, model, say, stop

from .containers import speaker
from .plain import broken, weather
from .registry import shape
from .transfers import boss, to


class QuotaSpent(Exception):
    """An error of the agent's own."""


def failing(name="assistant", error=503, after=0.1, **options):
    return LlmAgent(name=name, model=model(fail(error, after=after)), **options)


@shape(streamed=True)
def model_429():
    return failing("model_429", 429)


@shape()
def model_503():
    return failing()


@shape()
def model_raises():
    return failing("model_raises", QuotaSpent("nothing left"))


@shape(streamed=True)
def model_safety():
    return LlmAgent(name="model_safety", model=model(stop("SAFETY", after=0.1)))


@shape(streamed=True)
def model_max_tokens():
    return LlmAgent(name="assistant", model=model(stop("MAX_TOKENS", "Half ", "an ans", after=0.1)))


@shape(streamed=True)
def model_breaks_off():
    return LlmAgent(name="assistant", model=model(fail(ConnectionError("the model hung up"), "Half ", after=0.1)))


@shape(streamed=True)
def model_empty():
    """Ends without content, and without an error."""
    return LlmAgent(name="model_empty", model=model(stop("STOP", after=0.1)))


@shape()
def model_malformed_call():
    return LlmAgent(name="assistant", tools=[weather], model=model(stop("MALFORMED_FUNCTION_CALL", after=0.1)))


@shape()
def model_fails_after_tool():
    return LlmAgent(name="model_fails_after_tool", tools=[weather], model=model(call("weather", city="Rome"), fail(503)))


@shape()
def branch_fails():
    return ParallelAgent(name="fan", sub_agents=[
        speaker("quick", 0.05), failing("broken_branch", QuotaSpent("nothing left"), 0.15), speaker("slow", 1.3)])


@shape()
def branch_tool_fails():
    broken_branch = LlmAgent(name="broken_branch", tools=[broken], model=model(call("broken", reason="x"), say("Never said.")))
    return ParallelAgent(name="branch_tool_fails", sub_agents=[broken_branch, speaker("slow", 1.3)])


@shape()
def step_fails():
    return SequentialAgent(name="pipeline", sub_agents=[speaker("first"), failing("second", 429), speaker("third")])


@shape()
def step_blocked():
    """A blocked answer is no exception: the next step runs."""
    blocked = LlmAgent(name="second", model=model(stop("SAFETY")))
    return SequentialAgent(name="step_blocked", sub_agents=[speaker("first"), blocked, speaker("third")])


@shape()
def transfer_target_fails():
    return boss(to("expert"), sub_agents=[failing("expert")])


@shape()
def loop_blocked():
    """A blocked answer ends the round, not the loop."""
    return LoopAgent(name="rounds", max_iterations=2, sub_agents=[LlmAgent(name="writer", model=model(stop("SAFETY"), say("Fine.")))])
