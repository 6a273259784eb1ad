"""An application's own stream of what the OpenAI Agents SDK says: the SDK has no server. A request with a model is for the scripted
Responses API, whose built-in tools the agent "hosted" has."""

import json
import os

import uvicorn
import responses
from agents import Agent, HostedMCPTool, OpenAIChatCompletionsModel, OpenAIResponsesModel, Runner, WebSearchTool, function_tool, handoff, set_trace_processors
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
own = AsyncOpenAI(base_url=f"http://127.0.0.1:{os.environ['PORT']}/v1", api_key="none", max_retries=0)
maps = {"type": "mcp", "server_label": "maps", "server_url": "http://127.0.0.1:1/", "require_approval": {"always": {"tool_names": ["burn"]}}}
hosted = Agent(name="hosted", model=OpenAIResponsesModel("scripted", own), tools=[WebSearchTool(), HostedMCPTool(maps), weather])
waiting = {}  # the states of runs that wait for an approval, by its ID
app = FastAPI()
app.include_router(responses.api)


def whole(event):
    """Returns an event with what its objects hold, as far as that is data."""
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


def resume(answer):
    """Returns the state that waits for an answer, with the answer."""
    state, question = waiting.pop(answer["approval_request_id"])
    (state.approve if answer["approve"] else state.reject)(question)
    return state


@app.post("/")
@app.post("/chat")
@app.post("/v1/responses")
async def run(request: Request):
    asked = await request.json()
    if "model" in asked:
        return StreamingResponse(responses.respond(asked), media_type="text/event-stream")
    agent, script = coordinator if asked.get("story") else hosted if asked.get("hosted") else boss, asked["input"]
    if isinstance(script, list):
        script = resume(script[0])

    async def stream():
        try:
            running = Runner.run_streamed(agent, script)
            async for event in running.stream_events():
                name, data = said(event, asked)
                yield (f"event: {name}\n" if asked.get("named") else "") + f"data: {json.dumps(data)}\n\n"
            for question in running.interruptions:
                waiting[question.raw_item.id] = running.to_state(), question
            yield "data: [DONE]\n\n"
        except Exception as fault:
            yield f"event: error\ndata: {json.dumps({'error': str(fault)})}\n\n"

    return StreamingResponse(stream(), media_type="text/event-stream")


@app.get("/truth")
async def tell():
    return list(truth.traces.values())


uvicorn.run(app, host="127.0.0.1", port=int(os.environ["PORT"]), timeout_keep_alive=600)  # clients reuse connections on a slow machine
