"""ag-ui-crewai in front of a flow that calls tools, and of one that fails."""

import os

import uvicorn
from ag_ui_crewai import CopilotKitState, add_crewai_flow_fastapi_endpoint, copilotkit_stream
from crewai.flow.flow import Flow, listen, start
from fastapi import FastAPI
from litellm import acompletion

WEATHER = {"type": "function", "function": {"name": "weather", "description": "Returns the weather.", "parameters": {"type": "object", "properties": {"city": {"type": "string"}}}}}


class Meteorologist(Flow[CopilotKitState]):
    @start()
    async def chat(self):
        asked = await copilotkit_stream(await acompletion(
            model="openai/scripted", api_base=os.environ["MODEL_URL"], api_key="none", num_retries=0, stream=True,
            messages=self.state.messages, tools=[WEATHER, *[t if "function" in t else {"type": "function", "function": t} for t in self.state.copilotkit.actions]],
        ))
        message = asked.choices[0].message
        self.state.messages.append(message)
        for call in message.get("tool_calls") or []:
            self.state.messages.append({"role": "tool", "content": "sunny", "tool_call_id": call["id"]})

    @listen(chat)
    async def answer(self):
        if self.state.messages[-1]["role"] == "tool":
            asked = await copilotkit_stream(await acompletion(
                model="openai/scripted", api_base=os.environ["MODEL_URL"], api_key="none", stream=True, messages=self.state.messages))
            self.state.messages.append(asked.choices[0].message)


app = FastAPI()
add_crewai_flow_fastapi_endpoint(app, Meteorologist(), "/agent")
uvicorn.run(app, host="127.0.0.1", port=int(os.environ["PORT"]))
