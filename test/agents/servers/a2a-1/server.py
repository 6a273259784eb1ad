"""The A2A SDK's own server for versions 1.0 and 0.3 of the protocol, over JSON-RPC and REST."""

import asyncio
import os

import uvicorn
from a2a.helpers.proto_helpers import new_task_from_user_message, new_text_message, new_text_part
from a2a.server.agent_execution import AgentExecutor
from a2a.server.request_handlers import DefaultRequestHandler
from a2a.server.routes import create_agent_card_routes, create_jsonrpc_routes, create_rest_routes
from a2a.server.tasks import InMemoryTaskStore, TaskUpdater
from a2a.types import AgentCapabilities, AgentCard, AgentInterface, AgentSkill, Role
from starlette.applications import Starlette


class Executor(AgentExecutor):
    async def execute(self, context, queue):
        said = context.get_user_input()
        if said == "hello":
            return await queue.enqueue_event(new_text_message("Hello there.", context_id=context.context_id, role=Role.ROLE_AGENT))
        if said == "raise":
            raise ValueError("the agent is on fire")
        updater = TaskUpdater(queue, context.task_id, context.context_id)
        text = lambda words: updater.new_agent_message([new_text_part(words)])
        if not context.current_task:
            await queue.enqueue_event(new_task_from_user_message(context.message))
        await updater.start_work(text("I look it up."))
        match said:
            case "ask":
                return await updater.requires_input(text("Which city?"))
            case "sign in":
                return await updater.requires_auth(text("Sign in first."))
            case "fail":
                return await updater.failed(text("It did not work."))
            case "raise later":
                raise ValueError("the agent is on fire")
            case "slow":
                for n in range(8):
                    await asyncio.sleep(0.25)
                    await updater.start_work(text(f"Step {n}."))
        await updater.add_artifact([new_text_part("It is ")], artifact_id="answer", name="answer")
        await updater.add_artifact([new_text_part("sunny.")], artifact_id="answer", append=True, last_chunk=True)
        await updater.complete(text("It is sunny."))

    async def cancel(self, context, queue):
        await TaskUpdater(queue, context.task_id, context.context_id).cancel()


url = f"http://127.0.0.1:{os.environ['PORT']}"
card = AgentCard(
    name="meteorologist", description="knows the weather", version="1", capabilities=AgentCapabilities(streaming=True),
    default_input_modes=["text/plain"], default_output_modes=["text/plain"], skills=[AgentSkill(id="weather", name="weather", description="tells", tags=["weather"])],
    supported_interfaces=[AgentInterface(url=url + path, protocol_binding=binding, protocol_version=version)
                          for version in ("1.0", "0.3") for path, binding in (("/", "JSONRPC"), ("", "HTTP+JSON"))],
)
handler = DefaultRequestHandler(Executor(), InMemoryTaskStore(), card)
routes = create_agent_card_routes(card) + create_jsonrpc_routes(handler, "/", enable_v0_3_compat=True) + create_rest_routes(handler, enable_v0_3_compat=True)
if __name__ == "__main__":
    uvicorn.run(Starlette(routes=routes), host="127.0.0.1", port=int(os.environ["PORT"]))
