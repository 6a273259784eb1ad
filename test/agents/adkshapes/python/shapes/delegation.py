"""Sub-agents that are called like tools (ADK 2): single_turn and task."""

from google.adk.agents import LlmAgent, SequentialAgent

from scripted import call, called, calls, fail, model, say

from .containers import speaker, tooled
from .plain import weather
from .registry import shape, text
from .transfers import boss, to


def single(name, after=0.2):
    return LlmAgent(name=name, description="Answers once.", mode="single_turn",
                    model=model(say(name + " answers.", after=after)))


def task(name, *turns, **options):
    turns = turns or (say("Working.", after=0.1), call("finish_task", result="done"))
    return LlmAgent(name=name, description="Does a task.", mode="task", model=model(*turns), **options)


@shape(needs=2, streamed=True)
def single_turn():
    return boss(call("expert", request="x"), say("The expert answered."), sub_agents=[single("expert")])


@shape(needs=2)
def single_turn_twice():
    return boss(call("expert", request="a"), call("expert", request="b"), say("Asked twice."), name="single_turn_twice",
                sub_agents=[single("expert")])


@shape(needs=2, streamed=True)
def single_turn_parallel():
    return boss(calls(called("one", request="a"), called("two", request="b")), say("Both answered."),
                sub_agents=[single("one"), single("two", 0.1)])


@shape(needs=2)
def single_turn_parallel_same():
    return boss(calls(called("expert", request="a"), called("expert", request="b")), say("Both answered."),
                sub_agents=[single("expert")])


@shape(needs=2)
def single_turn_with_tool():
    expert = LlmAgent(name="expert", description="Knows.", mode="single_turn", tools=[weather],
                      model=model(call("weather", city="Rome"), say("Sunny.")))
    return boss(call("expert", request="x"), say("It is sunny."), name="single_turn_with_tool", sub_agents=[expert])


@shape(needs=2)
def single_turn_beside_tool():
    return boss(calls(called("expert", request="a"), called("weather", city="Rome")), say("Both done."), tools=[weather],
                sub_agents=[single("expert")])


@shape(needs=2, streamed=True)
def task_agent():
    worker = task("worker", call("weather", city="Rome"), call("finish_task", result="sunny"), tools=[weather])
    return boss(call("worker", request="x"), say("The task is done."), sub_agents=[worker])


@shape(needs=2, steps=[text("go"), text("the blue one")])
def task_asks_user():
    worker = task("worker", say("Which one?", after=0.1), call("finish_task", result="blue"))
    return boss(call("worker", request="x"), say("The task is done."), name="task_asks_user", sub_agents=[worker])


@shape(needs=2)
def task_twice():
    return boss(call("worker", request="a"), call("worker", request="b"), say("Two tasks done."),
                sub_agents=[task("worker", call("finish_task", result="done", after=0.1))])


@shape(needs=2)
def tasks_at_once():
    finish = call("finish_task", result="done", after=0.1)
    return boss(calls(called("one", request="a"), called("two", request="b")), say("Two tasks done."), name="tasks_at_once",
                sub_agents=[task("one", finish), task("two", finish)])


@shape(needs=2)
def modes_mixed():
    return boss(call("expert", request="x"), to("colleague"),
                sub_agents=[single("expert"), tooled("colleague"), speaker("bystander")])


FINISH = call("finish_task", result="done", after=0.1)


@shape(needs=2)
def task_in_task():
    worker = task("worker", call("helper", request="y"), FINISH, sub_agents=[task("helper", FINISH)])
    return boss(call("worker", request="x"), say("The task is done."), sub_agents=[worker])


@shape(needs=2)
def task_in_task_in_task():
    helper = task("helper", call("hand", request="z"), FINISH, sub_agents=[task("hand", FINISH)])
    worker = task("worker", call("helper", request="y"), FINISH, sub_agents=[helper])
    return boss(call("worker", request="x"), say("The task is done."), name="task_in_task_in_task", sub_agents=[worker])


@shape(needs=2)
def tasks_in_task():
    worker = task("worker", call("helper", request="y"), call("helper", request="z"), FINISH, sub_agents=[task("helper", FINISH)])
    return boss(call("worker", request="x"), say("The task is done."), sub_agents=[worker])


@shape(needs=2, steps=[text("go"), text("the blue one")])
def task_in_task_asks_user():
    helper = task("helper", say("Which one?"), FINISH)
    worker = task("worker", call("helper", request="y"), FINISH, sub_agents=[helper])
    return boss(call("worker", request="x"), say("The task is done."), sub_agents=[worker])


@shape(needs=2)
def task_model_fails():
    return boss(call("worker", request="x"), say("Never said."), sub_agents=[task("worker", fail(503))])


@shape(needs=2)
def task_model_raises():
    return boss(call("worker", request="x"), say("Never said."), sub_agents=[task("worker", fail(RuntimeError("no model")))])


@shape(needs=2)
def task_in_step():
    """The caller is the step of a sequence."""
    lead = boss(call("worker", request="x"), say("The task is done."), name="lead", sub_agents=[task("worker", FINISH)])
    return SequentialAgent(name="pipeline", sub_agents=[lead, speaker("closer")])


@shape(needs=2)
def task_after_transfer():
    middle = boss(call("worker", request="q"), say("The worker is done."), name="middle", sub_agents=[task("worker")])
    return boss(to("middle"), sub_agents=[middle])


@shape(needs=2)
def single_turns_and_tools():
    """Two agents and two tools answer in one frame."""
    return boss(calls(called("one", request="a"), called("weather", city="Rome"), called("two", request="b"), called("weather", city="Oslo")),
                say("All answered."), tools=[weather], sub_agents=[single("one"), single("two", 0.05)])


@shape(needs=2)
def single_turn_in_single_turn():
    inner = LlmAgent(name="middle", description="Asks.", mode="single_turn", sub_agents=[single("expert")],
                     model=model(call("expert", request="y"), say("The expert says.")))
    return boss(call("middle", request="x"), say("Heard."), sub_agents=[inner])
