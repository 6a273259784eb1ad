"""OpenAI's own client asks a server at the given URL and prints what it got, without what differs by chance."""

import json
import re
import sys

import openai

CHANCE = {"id", "created", "created_at", "completed_at", "item_id", "response_id"}
HELLO, TOOLS = "Hello there.", 'call weather {"city":"Rome"} & call weather {"city":"Oslo"}'
client = openai.OpenAI(base_url=sys.argv[1].rstrip("/") + "/v1", api_key="none", max_retries=0)
weather = {"name": "weather", "parameters": {"type": "object", "properties": {}}}


def plain(value):
    if isinstance(value, dict):
        return {k: plain(v) for k, v in sorted(value.items()) if k not in CHANCE}
    if isinstance(value, str):
        return re.sub(r"(call_weather_\d+)_\d+", r"\1", value)
    return [plain(v) for v in value] if isinstance(value, list) else value


def tell(what, ask):
    try:
        for event in ask():
            print(what, json.dumps(plain(event.model_dump(mode="json", warnings=False))))
    except openai.APIError as fault:
        print(what, type(fault).__name__, fault.message, json.dumps(plain(fault.body)))


def leave(what, ask):
    stream = ask()
    print(what, json.dumps(plain(next(iter(stream)).model_dump(mode="json", warnings=False))))
    stream.close()


def chat(text, **more):
    tools = [{"type": "function", "function": weather}]
    return lambda: client.chat.completions.create(model="scripted", messages=[{"role": "user", "content": text}], tools=tools, stream=True, **more)


def respond(text):
    return lambda: client.responses.create(model="scripted", input=text, tools=[{"type": "function", **weather}], stream=True)


for text in (HELLO, TOOLS, "think aloud", "spoil", "fail"):
    tell(f"chat {text}:", chat(text, stream_options={"include_usage": True}))
    tell(f"response {text}:", respond(text))
tell("choices:", chat(HELLO, n=2))
leave("chat, left:", chat("slow"))
leave("response, left:", respond("slow"))
with client.responses.stream(model="scripted", input=HELLO) as stream:
    print("final:", json.dumps(plain(stream.get_final_response().model_dump(mode="json", warnings=False))))
