"""OpenAI's Responses API with a script instead of a model: each event is made of the types of OpenAI's own client, but no search, no MCP
server and no model runs. It has background responses, which can be retrieved.

The last user's text is a script, a line for each item. A line that only the caller can go on after ends the response:

    search fires       is a web search
    mcp lookup {}      is a call of an MCP server's tool
    mcp broken {}      is one that fails
    ask burn {}        asks for the approval of such a call; once it has it, the next response begins with the call
    call weather {}    calls a function of the caller; several stand between " & "
    think aloud        reasons, and says the line
    fail               fails
    slow               speaks for seconds
    Any other line     is said
"""

import asyncio
import typing

from fastapi import APIRouter, Request
from fastapi.responses import StreamingResponse
from openai.types import responses as r
from openai.types.responses import response_output_item as items
from openai.types.responses.response_usage import InputTokensDetails, OutputTokensDetails

api = APIRouter()
kept = {}


class Answer:
    """A response and its events so far."""

    def __init__(self, asked):
        self.asked, self.events, self.output, self.more = asked, [], [], asyncio.Event()
        self.id = f"resp_{len(kept):04}"
        kept[self.id] = self

    def tell(self, kind, **members):
        name = typing.get_args(kind.model_fields["type"].annotation)[0]
        self.events.append(kind(type=name, sequence_number=len(self.events), **members))
        self.more.set()
        self.more = asyncio.Event()

    def response(self, status, **more):
        return r.Response(
            id=self.id, object="response", created_at=1795380000, model=self.asked["model"], status=status, output=self.output, parallel_tool_calls=True, tool_choice="auto", tools=[],
            instructions=self.asked.get("instructions"), background=bool(self.asked.get("background")), **more)

    def begin(self, item):
        self.at = {"output_index": len(self.output), "item_id": item.id}
        self.tell(r.ResponseOutputItemAddedEvent, output_index=len(self.output), item=item)

    def end(self, item):
        self.tell(r.ResponseOutputItemDoneEvent, output_index=len(self.output), item=item)
        self.output.append(item)

    def make_id(self, kind):
        return f"{kind}_{self.id.removeprefix('resp_')}_{len(self.output)}"

    async def run(self):
        self.tell(r.ResponseCreatedEvent, response=self.response("in_progress"))
        self.tell(r.ResponseInProgressEvent, response=self.response("in_progress"))
        lines, approved = turn(self.asked["input"])
        if approved:
            await self.mcp(approved.rpartition("_")[2] + " {}", approved)
        for line in lines:
            if line == "fail":
                error = r.ResponseError(code="server_error", message="the model is on fire")
                return self.tell(r.ResponseFailedEvent, response=self.response("failed", error=error))
            verb, _, rest = line.partition(" ")
            await (getattr(self, verb)(rest) if verb in VERBS else self.say(line))
        usage = r.ResponseUsage(
            input_tokens=100, input_tokens_details=InputTokensDetails(cached_tokens=64, cache_write_tokens=0), output_tokens=9,
            output_tokens_details=OutputTokensDetails(reasoning_tokens=6), total_tokens=109)
        self.tell(r.ResponseCompletedEvent, response=self.response("completed", usage=usage))

    async def search(self, query):
        item = {"id": self.make_id("ws"), "type": "web_search_call", "action": {"type": "search", "query": query}}
        self.begin(r.ResponseFunctionWebSearch(status="in_progress", **item))
        self.tell(r.ResponseWebSearchCallInProgressEvent, **self.at)
        self.tell(r.ResponseWebSearchCallSearchingEvent, **self.at)
        self.tell(r.ResponseWebSearchCallCompletedEvent, **self.at)
        self.end(r.ResponseFunctionWebSearch(status="completed", **item))

    async def mcp(self, rest, approval=None):
        name, _, arguments = rest.partition(" ")
        item = {"id": self.make_id("mcp"), "type": "mcp_call", "name": name, "server_label": "maps", "approval_request_id": approval}
        self.begin(items.McpCall(status="in_progress", arguments="", **item))
        self.tell(r.ResponseMcpCallInProgressEvent, **self.at)
        self.tell(r.ResponseMcpCallArgumentsDeltaEvent, delta=arguments, **self.at)
        self.tell(r.ResponseMcpCallArgumentsDoneEvent, arguments=arguments, **self.at)
        if name == "broken":
            self.tell(r.ResponseMcpCallFailedEvent, **self.at)
            return self.end(items.McpCall(status="failed", arguments=arguments, error={"type": "http_error", "code": 503, "message": "no luck: rain"}, **item))
        self.tell(r.ResponseMcpCallCompletedEvent, **self.at)
        self.end(items.McpCall(status="completed", arguments=arguments, output="a secret map", **item))

    async def ask(self, rest):
        name, _, arguments = rest.partition(" ")
        item = items.McpApprovalRequest(id=self.make_id("mcpr") + "_" + name, type="mcp_approval_request", name=name, server_label="maps", arguments=arguments)
        self.begin(item)
        self.end(item)

    async def call(self, rest):
        for one in rest.split(" & call "):
            name, _, arguments = one.partition(" ")
            item = {"id": self.make_id("fc"), "type": "function_call", "name": name, "call_id": self.make_id("call")}
            self.begin(r.ResponseFunctionToolCall(status="in_progress", arguments="", **item))
            self.tell(r.ResponseFunctionCallArgumentsDeltaEvent, delta=arguments, **self.at)
            self.tell(r.ResponseFunctionCallArgumentsDoneEvent, name=name, arguments=arguments, **self.at)
            self.end(r.ResponseFunctionToolCall(status="completed", arguments=arguments, **item))

    async def say(self, line):
        if line.startswith("think "):
            self.reason()
        item = {"id": self.make_id("msg"), "type": "message", "role": "assistant"}
        part = {"type": "output_text", "annotations": []}
        self.begin(r.ResponseOutputMessage(status="in_progress", content=[], **item))
        at = self.at | {"content_index": 0}
        self.tell(r.ResponseContentPartAddedEvent, part=r.ResponseOutputText(text="", **part), **at)
        for word in ["word"] * 20 if line == "slow" else line.split(" "):
            self.tell(r.ResponseTextDeltaEvent, delta=word + " ", logprobs=[], **at)
            await asyncio.sleep(0.1 if line == "slow" else 0)
        self.tell(r.ResponseTextDoneEvent, text=line, logprobs=[], **at)
        self.tell(r.ResponseContentPartDoneEvent, part=r.ResponseOutputText(text=line, **part), **at)
        self.end(r.ResponseOutputMessage(status="completed", content=[r.ResponseOutputText(text=line, **part)], **item))

    def reason(self):
        item = {"id": self.make_id("rs"), "type": "reasoning", "summary": []}
        self.begin(r.ResponseReasoningItem(**item))
        self.tell(r.ResponseReasoningTextDeltaEvent, content_index=0, delta="Let me think.", **self.at)
        self.tell(r.ResponseReasoningTextDoneEvent, content_index=0, text="Let me think.", **self.at)
        self.end(r.ResponseReasoningItem(content=[{"type": "reasoning_text", "text": "Let me think."}], **item))

    async def listen(self, after):
        """Yields the events from a number on until the response has ended."""
        while True:
            more = self.more
            for event in self.events[after:]:
                after += 1
                yield f"event: {event.type}\ndata: {event.model_dump_json(exclude_unset=True)}\n\n"
                if event.type in ("response.completed", "response.failed"):
                    return
            await more.wait()


VERBS = ("search", "mcp", "ask", "call")
ANSWERS = ("function_call_output", "mcp_approval_response")


def turn(said):
    """Returns the lines that are due, and the ID of the question to which the caller agrees, if any."""
    asked = [{"role": "user", "content": said}] if isinstance(said, str) else said
    script, turns, answer = "", 0, None
    for before, item in zip([{}] + asked, asked):
        answer = None
        if item.get("role") == "user":
            script, turns = text(item), 0
        elif item.get("type") in ANSWERS:
            turns += before.get("type") not in ANSWERS
            if item["type"] == "mcp_approval_response":
                answer = item["approval_request_id"] if item["approve"] else None
    groups = [[]]
    for line in script.split("\n"):
        groups[-1].append(line)
        if line.partition(" ")[0] in ("ask", "call"):
            groups.append([])
    return groups[turns] if turns < len(groups) else ["Done."], answer


def text(item):
    content = item["content"]
    return content if isinstance(content, str) else "".join(part.get("text", "") for part in content)


async def respond(asked):
    answer = Answer(asked)
    running = asyncio.ensure_future(answer.run())
    try:
        async for event in answer.listen(0):
            yield event
    finally:
        if not asked.get("background"):
            running.cancel()


@api.get("/v1/responses/{id}")
async def retrieve(id: str, starting_after: int = -1):
    return StreamingResponse(kept[id].listen(starting_after + 1), media_type="text/event-stream")


@api.get("/v1/kept")
async def tell_kept():
    """Returns what the API itself knows of each response."""
    def told(answer):
        last = answer.events[-1]
        response = last.response if hasattr(last, "response") else answer.response("cancelled")  # its caller has left
        return {"id": answer.id, "status": response.status.replace("ll", "l"), "output": [item.model_dump() for item in response.output], "usage": response.usage or {}}

    return [told(answer) for answer in kept.values()]
