"""An application's own stream of what the OpenAI Agents SDK says: the SDK has no server."""

import json
import os

import uvicorn
from agents import Agent, OpenAIChatCompletionsModel, Runner, function_tool, set_tracing_disabled
from fastapi import FastAPI, Request
from fastapi.responses import StreamingResponse
from openai import AsyncOpenAI

set_tracing_disabled(True)
model = OpenAIChatCompletionsModel("scripted", AsyncOpenAI(base_url=os.environ["MODEL_URL"], api_key="none", max_retries=0))


@function_tool
def weather(city: str) -> str:
    """Returns the weather."""
    return f"sunny in {city}"


@function_tool
def broken(reason: str) -> str:
    """Fails."""
    raise ValueError(f"no luck: {reason}")


expert = Agent(name="expert", handoff_description="knows it all", model=model, tools=[weather])
boss = Agent(name="boss", model=model, tools=[weather, broken], handoffs=[expert])
app = FastAPI()


def said(event):
    if event.type == "raw_response_event":
        return event.data.type, event.data.model_dump(exclude_none=True)
    if event.type == "agent_updated_stream_event":
        return event.type, {"type": event.type, "new_agent": event.new_agent.name}
    return event.type, {"type": event.type, "name": event.name, "item": event.item.type, "agent": event.item.agent.name}


@app.post("/")
@app.post("/chat")
@app.post("/v1/responses")
async def run(request: Request):
    asked = await request.json()

    async def stream():
        try:
            async for event in Runner.run_streamed(boss, asked["input"]).stream_events():
                name, data = said(event)
                yield (f"event: {name}\n" if asked.get("named") else "") + f"data: {json.dumps(data)}\n\n"
            yield "data: [DONE]\n\n"
        except Exception as fault:
            yield f"event: error\ndata: {json.dumps({'error': str(fault)})}\n\n"

    return StreamingResponse(stream(), media_type="text/event-stream")


uvicorn.run(app, host="127.0.0.1", port=int(os.environ["PORT"]))
