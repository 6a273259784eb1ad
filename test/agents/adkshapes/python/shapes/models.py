"""What models answer with, and how agents are asked."""

from google.adk.agents import LlmAgent, LoopAgent, SequentialAgent
from google.adk.code_executors import UnsafeLocalCodeExecutor
from google.adk.planners import PlanReActPlanner
from google.genai import types
from pydantic import BaseModel

from scripted import Turn, call, model, say, think

from .containers import speaker
from .plain import weather
from .registry import shape, text


class City(BaseModel):
    name: str
    people: int


@shape()
def no_usage():
    return LlmAgent(name="assistant", model=model(say("Free of charge.", usage=False, finish=None, after=0.1)))


@shape(streamed=True)
def thoughts():
    return LlmAgent(name="thoughts", model=model(think("Let me think. ", "Done thinking.", after=0.1)))


@shape()
def thoughts_and_tool():
    turn = think("I need the weather. ", "One moment.")
    turn.chunks.append(call("weather", city="Rome").chunks[0])
    return LlmAgent(name="assistant", tools=[weather], model=model(turn, think("Now I know. ", "Sunny.")))


@shape()
def plan_react():
    answered = say("/*PLANNING*/ look /*REASONING*/ I know /*FINAL_ANSWER*/ Sunny.")
    return LlmAgent(name="plan_react", planner=PlanReActPlanner(), tools=[weather],
                    model=model(call("weather", city="Rome"), answered))


@shape()
def code_executed():
    code = say("Let me compute:\n```python\nprint(6 * 7)\n```", after=0.1)
    return LlmAgent(name="coder", code_executor=UnsafeLocalCodeExecutor(), model=model(code, say("It is 42.")))


@shape(streamed=True)
def code_by_model():
    """The model executes its code itself, as Gemini does."""
    parts = [
        [types.Part(text="Let me compute. ")],
        [types.Part(executable_code=types.ExecutableCode(code="print(6 * 7)", language=types.Language.PYTHON))],
        [types.Part(code_execution_result=types.CodeExecutionResult(outcome=types.Outcome.OUTCOME_OK, output="42\n"))],
        [types.Part(text="It is 42.")],
    ]
    return LlmAgent(name="code_by_model", model=model(Turn(parts, after=0.1)))


@shape()
def code_by_model_fails():
    parts = [
        types.Part(executable_code=types.ExecutableCode(code="1 / 0", language=types.Language.PYTHON)),
        types.Part(code_execution_result=types.CodeExecutionResult(
            outcome=types.Outcome.OUTCOME_FAILED, output="ZeroDivisionError")),
        types.Part(text="It failed."),
    ]
    return LlmAgent(name="assistant", model=model(Turn([parts], after=0.1)))


@shape()
def output_schema():
    return LlmAgent(name="output_schema", output_schema=City, output_key="city",
                    model=model(say('{"name": "Rome", ', '"people": 2800000}', after=0.1)))


@shape()
def output_schema_with_tools():
    return LlmAgent(name="assistant", output_schema=City, tools=[weather],
                    model=model(call("weather", city="Rome"), call("set_model_response", name="Rome", people=2800000),
                                say("Not needed.")))


@shape()
def no_contents():
    return SequentialAgent(name="pipeline", sub_agents=[speaker("first"), speaker("second", include_contents="none")])


@shape()
def instruction_state():
    return SequentialAgent(name="instruction_state", sub_agents=[
        speaker("first", output_key="topic"), speaker("second", instruction="Write about {topic}.")])


@shape(steps=[text("go"), text("go on")])
def asked_twice():
    return LlmAgent(name="assistant", tools=[weather],
                    model=model(call("weather", city="Rome"), say("Sunny."), say("Still sunny.", after=0.1)))


@shape()
def output_schema_with_tools_in_loop():
    writer = LlmAgent(name="writer", output_schema=City, tools=[weather], model=model(
        call("weather", city="Rome"), call("set_model_response", name="Rome", people=2800000)))
    return LoopAgent(name="rounds", max_iterations=2, sub_agents=[writer])
