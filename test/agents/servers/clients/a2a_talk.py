"""The A2A SDK's own client has short talks with an agent at the given URL, by the address of its card, and prints what it got, without what
differs by chance. It asks in a stream where the card says that the agent has that, and for a task that nobody began."""

import asyncio
import json
import sys

import httpx
from a2a.client import A2ACardResolver, ClientConfig, ClientFactory
from a2a.types import Message, Part, Role, SendMessageRequest, SubscribeToTaskRequest
from google.protobuf.json_format import MessageToDict

CHANCE = {"id", "taskId", "contextId", "messageId", "timestamp", "artifactId", "adk_invocation_id", "adk_event_id", "adk_session_id", "adk_user_id"}
TALKS = ["Hello there.", 'call weather {"city":"Rome"}\nIt is sunny.', "fail"]


def plain(value):
    if isinstance(value, dict):
        return {k: plain(v) for k, v in sorted(value.items()) if k not in CHANCE}
    return [plain(v) for v in value] if isinstance(value, list) else value


async def listen(what, stream):
    try:
        async for response in stream:
            print(what, json.dumps(plain(MessageToDict(response))))
    except Exception as fault:
        print(what, json.dumps([type(fault).__name__, str(fault).replace(sys.argv[1].rstrip("/"), "")]))


async def main(url):
    async with httpx.AsyncClient(timeout=30) as http:
        card = await A2ACardResolver(http, url).get_agent_card()
        print("card:", json.dumps(plain(MessageToDict(card))).replace(url, ""))
        client = ClientFactory(ClientConfig(httpx_client=http)).create(card)
        for number, text in enumerate(TALKS):
            asked = Message(message_id=f"m-{number}", role=Role.ROLE_USER, parts=[Part(text=text)])
            await listen(f"{text!r}:", client.send_message(SendMessageRequest(message=asked)))
        await listen("nobody:", client.subscribe(SubscribeToTaskRequest(id="nobody")))


asyncio.run(main(sys.argv[1].rstrip("/")))
