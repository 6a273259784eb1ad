"""OpenAI's own client asks a server at the given URL for responses with built-in tools, approvals and background runs, and prints what it
got, without what differs by chance."""

import json
import re
import sys

import openai

client = openai.OpenAI(base_url=sys.argv[1].rstrip("/") + "/v1", api_key="none", max_retries=0)
MAPS = {"type": "mcp", "server_label": "maps", "server_url": "http://127.0.0.1:1/"}
TOOLS = [{"type": "web_search"}, MAPS, {"type": "function", "name": "weather", "parameters": {"type": "object", "properties": {}}}]


def ask(script, **more):
    return client.responses.create(model="scripted", input=script, tools=TOOLS, stream=True, **more)


def show(what, stream):
    """Prints the events, and returns the last one's response."""
    for event in stream:
        print(what, re.sub(r"(?<=_)\d{4}(?=[_\"])", "N", json.dumps(event.model_dump(mode="json", exclude_unset=True), sort_keys=True)))
    return event.response


show("plain:", ask("Hello there."))
show("built-in:", ask("search fires\nmcp lookup {}\nTwo fires."))
show("failing:", ask("mcp broken {}\nIt did not work."))
show("reasoning:", ask("think aloud"))
show("failure:", ask("fail"))

script = [{"role": "user", "content": 'call weather {"city":"Rome"} & call weather {"city":"Oslo"}\nBoth are sunny.'}]
called = show("two tools:", ask(script)).output
results = [{"type": "function_call_output", "call_id": call.call_id, "output": "sunny in Rome"} for call in called]
show("results:", ask(script + [call.model_dump(exclude_unset=True) for call in called] + results))

for approve in (True, False):
    script = [{"role": "user", "content": "ask burn {}\nThe end."}]
    asked = show("approval:", ask(script)).output
    answer = {"type": "mcp_approval_response", "approval_request_id": asked[0].id, "approve": approve}
    show("answered:", ask(script + [asked[0].model_dump(exclude_unset=True), answer]))

left = ask("slow")
print("left:", next(iter(left)).type)
left.close()

# A background response goes on without its client, which comes back.
first = ask("slow", background=True)
for event in first:
    if event.type == "response.created":
        response = event.response.id
    if event.type == "response.output_text.delta":
        break
first.close()
show("came back:", client.responses.retrieve(response, stream=True, starting_after=event.sequence_number))
show("once more:", client.responses.retrieve(response, stream=True))
