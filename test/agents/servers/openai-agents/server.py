"""An application's own stream of what the OpenAI Agents SDK says: the SDK has no server."""

import json
import os

import uvicorn
from agents import Agent, OpenAIChatCompletionsModel, Runner, function_tool, handoff, set_trace_processors
from agents.tracing import TracingProcessor
from fastapi import FastAPI, Request
from fastapi.responses import StreamingResponse
from openai import AsyncOpenAI



class Truth(TracingProcessor):
    """Keeps what the SDK itself says of each run."""

    def __init__(self):
        self.traces = {}

    def on_trace_start(self, trace):
        self.traces[trace.trace_id] = []

    def on_trace_end(self, trace):
        pass

    def on_span_start(self, span):
        pass

    def on_span_end(self, span):
        self.traces[span.trace_id].append(span.export())

    def shutdown(self):
        pass

    def force_flush(self):
        pass


truth = Truth()
set_trace_processors([truth])
model = OpenAIChatCompletionsModel("scripted", AsyncOpenAI(base_url=os.environ["MODEL_URL"], api_key="none", max_retries=0))


@function_tool
def weather(city: str) -> str:
    """Returns the weather."""
    return f"sunny in {city}"


@function_tool
def broken(reason: str) -> str:
    """Fails."""
    raise ValueError(f"no luck: {reason}")


@function_tool
def alerts(city: str) -> str:
    """Returns the alerts, but fails."""
    raise ValueError(f"no alerts for {city}")


expert = Agent(name="expert", handoff_description="knows it all", model=model, tools=[weather])
boss = Agent(name="boss", model=model, tools=[weather, broken], handoffs=[expert])
coordinator = Agent(name="coordinator", model=model, tools=[weather, alerts], handoffs=[handoff(expert, tool_name_override="transfer_to_agent")])
app = FastAPI()


def whole(event):
    """Is an event with what its objects hold, as far as that is data."""
    if event.type == "agent_updated_stream_event":
        return {"type": event.type, "new_agent": {"name": event.new_agent.name, "handoff_description": event.new_agent.handoff_description}}
    raw = event.item.raw_item
    item = {"type": event.item.type, "agent": {"name": event.item.agent.name}, "raw_item": raw if isinstance(raw, dict) else raw.model_dump(exclude_none=True)}
    if event.item.type == "tool_call_output_item":
        item["output"] = event.item.output
    if event.item.type == "handoff_output_item":
        item |= {"source_agent": {"name": event.item.source_agent.name}, "target_agent": {"name": event.item.target_agent.name}}
    return {"type": event.type, "name": event.name, "item": item}


def said(event, asked):
    if event.type == "raw_response_event":
        data = event.data.model_dump(exclude_none=True)
        return (event.type, {"type": event.type, "data": data}) if asked.get("wrapped") else (event.data.type, data)
    if asked.get("whole"):
        return event.type, whole(event)
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
            async for event in Runner.run_streamed(coordinator if asked.get("story") else boss, asked["input"]).stream_events():
                name, data = said(event, asked)
                yield (f"event: {name}\n" if asked.get("named") else "") + f"data: {json.dumps(data)}\n\n"
            yield "data: [DONE]\n\n"
        except Exception as fault:
            yield f"event: error\ndata: {json.dumps({'error': str(fault)})}\n\n"

    return StreamingResponse(stream(), media_type="text/event-stream")


@app.get("/truth")
async def tell():
    return list(truth.traces.values())


uvicorn.run(app, host="127.0.0.1", port=int(os.environ["PORT"]))
