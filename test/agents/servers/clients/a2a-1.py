"""The A2A SDK's own client asks a server at the given URL, by the addresses of its card, and prints what it got, without what differs by chance."""

import asyncio
import json
import sys

import httpx
from a2a.client import A2ACardResolver, ClientConfig, ClientFactory
from a2a.types import Message, Part, Role, SendMessageRequest, SubscribeToTaskRequest
from google.protobuf.json_format import MessageToDict

CHANCE = {"id", "taskId", "contextId", "messageId", "timestamp"}


def plain(value):
    if isinstance(value, dict):
        return {k: plain(v) for k, v in sorted(value.items()) if k not in CHANCE}
    return [plain(v) for v in value] if isinstance(value, list) else value


def tell(what, value):
    print(what, json.dumps(value))


async def listen(what, stream, first=None):
    try:
        async for response in stream:
            said = MessageToDict(response)
            tell(what, plain(said))
            if first and not first.done():
                first.set_result(said.get("task", {}).get("id"))
    except Exception as fault:
        tell(what, [type(fault).__name__, str(fault).replace(sys.argv[1].rstrip("/"), "")])


async def main(url):
    async with httpx.AsyncClient(timeout=30) as http:
        card = await A2ACardResolver(http, url).get_agent_card()
        for binding in ("JSONRPC", "HTTP+JSON"):
            client = ClientFactory(ClientConfig(httpx_client=http, supported_protocol_bindings=[binding])).create(card)

            def ask(text):
                return client.send_message(SendMessageRequest(message=Message(message_id="m-" + text, role=Role.ROLE_USER, parts=[Part(text=text)])))

            for text in ("hello", "weather", "ask", "sign in", "fail", "raise", "raise later"):
                await listen(f"{binding} {text}:", ask(text))
            await listen(f"{binding} nobody:", client.subscribe(SubscribeToTaskRequest(id="nobody")))
            first = asyncio.get_running_loop().create_future()
            speaker = asyncio.create_task(listen(f"{binding} slow:", ask("slow"), first))
            heard = []
            async for response in client.subscribe(SubscribeToTaskRequest(id=await first)):
                heard.append(plain(MessageToDict(response)))
            await speaker
            tell(f"{binding} second listener:", heard[-3:])  # when it came is chance


asyncio.run(main(sys.argv[1].rstrip("/")))
