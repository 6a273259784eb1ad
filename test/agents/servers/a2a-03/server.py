"""The A2A SDK's own server for version 0.3 of the protocol, over JSON-RPC and REST."""

import asyncio
import os

import uvicorn
from a2a.server.agent_execution import AgentExecutor
from a2a.server.apps import A2AFastAPIApplication, A2ARESTFastAPIApplication
from a2a.server.request_handlers import DefaultRequestHandler
from a2a.server.tasks import InMemoryTaskStore, TaskUpdater
from a2a.types import AgentCapabilities, AgentCard, AgentInterface, AgentSkill, Part, TaskState, TextPart
from a2a.utils import new_agent_text_message, new_task


class Executor(AgentExecutor):
    async def execute(self, context, queue):
        said = context.get_user_input()
        if said == "hello":
            return await queue.enqueue_event(new_agent_text_message("Hello there.", context.context_id))
        if said == "raise":
            raise ValueError("the agent is on fire")
        updater = TaskUpdater(queue, context.task_id, context.context_id)
        text = lambda words: new_agent_text_message(words, context.context_id, context.task_id)
        if not context.current_task:
            task = new_task(context.message)
            task.id, task.context_id = context.task_id, context.context_id
            await queue.enqueue_event(task)
        await updater.update_status(TaskState.working, text("I look it up."))
        match said:
            case "ask":
                return await updater.update_status(TaskState.input_required, text("Which city?"), final=True)
            case "fail":
                return await updater.failed(text("It did not work."))
            case "slow":
                for n in range(8):
                    await asyncio.sleep(0.25)
                    await updater.update_status(TaskState.working, text(f"Step {n}."))
        await updater.add_artifact([Part(root=TextPart(text="It is sunny."))], artifact_id="answer", name="answer")
        await updater.complete(text("It is sunny."))

    async def cancel(self, context, queue):
        await TaskUpdater(queue, context.task_id, context.context_id).update_status(TaskState.canceled, final=True)


url = f"http://127.0.0.1:{os.environ['PORT']}/"
card = AgentCard(
    name="meteorologist", description="knows the weather", version="1", url=url, capabilities=AgentCapabilities(streaming=True),
    default_input_modes=["text/plain"], default_output_modes=["text/plain"], skills=[AgentSkill(id="weather", name="weather", description="tells", tags=["weather"])],
    additional_interfaces=[AgentInterface(url=url, transport="HTTP+JSON")],
)
handler = DefaultRequestHandler(Executor(), InMemoryTaskStore())
app = A2ARESTFastAPIApplication(card, handler).build()
A2AFastAPIApplication(card, handler).add_routes_to_app(app)
uvicorn.run(app, host="127.0.0.1", port=int(os.environ["PORT"]))
