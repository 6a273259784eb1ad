"""Callbacks that answer in an agent's, a model's or a tool's place."""

from google.adk.agents import LlmAgent, LoopAgent, SequentialAgent
from google.adk.apps import App
from google.adk.models import LlmResponse
from google.adk.plugins import BasePlugin
from google.genai import types

from scripted import call, fail, model, say

from .containers import speaker
from .plain import broken, weather
from .registry import shape
from .transfers import boss, to


def content(said):
    return types.Content(role="model", parts=[types.Part(text=said)])


def returns(value):
    return lambda *args, **kwargs: value


@shape()
def before_agent_skips():
    return SequentialAgent(name="pipeline", sub_agents=[
        speaker("skipped", before_agent_callback=returns(content("Skipped."))), speaker("second")])


@shape()
def before_agent_skips_root():
    return speaker("before_agent_skips_root", before_agent_callback=returns(content("Skipped.")))


@shape()
def after_agent_adds():
    return SequentialAgent(name="pipeline", sub_agents=[
        speaker("first", after_agent_callback=returns(content("And more."))), speaker("second")])


@shape()
def before_model_answers():
    return speaker("before_model_answers", before_model_callback=returns(LlmResponse(content=content("Cached."))))


@shape(streamed=True)
def after_model_replaces():
    return speaker("assistant", after_model_callback=returns(LlmResponse(content=content("Censored."))))


@shape()
def before_tool_answers():
    return LlmAgent(name="before_tool_answers", tools=[weather], before_tool_callback=returns({"cached": True}),
                    model=model(call("weather", city="Rome"), say("Cached weather.")))


@shape()
def on_tool_error_answers():
    return LlmAgent(name="assistant", tools=[broken], on_tool_error_callback=returns({"error": "handled"}),
                    model=model(call("broken", reason="x"), say("Handled.")))


@shape()
def on_model_error_answers():
    return LlmAgent(name="on_model_error_answers", model=model(fail(503, after=0.1)),
                    on_model_error_callback=returns(LlmResponse(content=content("Recovered."))))


def raises(*args, **kwargs):
    raise LookupError("the callback failed")


@shape()
def after_agent_raises():
    return speaker("assistant", after_agent_callback=raises)


@shape()
def after_agent_raises_transferred():
    return boss(to("expert"), sub_agents=[speaker("expert", after_agent_callback=raises)])


@shape()
def after_model_raises():
    return speaker("assistant", after_model_callback=raises)


@shape()
def before_model_raises():
    return speaker("assistant", before_model_callback=raises)


@shape(streamed=True)
def before_model_answers_in_loop():
    """The first round's answer is the callback's."""
    asked = set()

    def cached(callback_context, llm_request):
        if callback_context.session.id not in asked:
            asked.add(callback_context.session.id)
            return LlmResponse(content=content("Cached."))

    return LoopAgent(name="rounds", max_iterations=3, sub_agents=[speaker("writer", before_model_callback=cached)])


class Gate(BasePlugin):
    """Answers before any agent is run."""

    async def before_run_callback(self, *, invocation_context):
        return content("Closed.")


@shape()
def plugin_answers():
    return App(name="plugin_answers", root_agent=speaker("assistant"), plugins=[Gate(name="gate")])


@shape()
def plugin_answers_sequence():
    return App(name="plugin_answers_sequence", plugins=[Gate(name="gate")],
               root_agent=SequentialAgent(name="pipeline", sub_agents=[speaker("first")]))


@shape()
def after_agent_adds_root():
    """A container's own callback speaks for it."""
    return SequentialAgent(name="pipeline", after_agent_callback=returns(content("And more.")),
                           sub_agents=[speaker("first"), speaker("second")])
