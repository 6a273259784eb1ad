"""Agno's A2AClient asks an agent of Agno's and prints what it got, without what differs by chance."""

import asyncio
import json
import sys

from agno.client.a2a import A2AClient


async def main(url):
    for place in ("agents/meteorologist", "teams/team"):
        client = A2AClient(f"{url}/a2a/{place}")
        for text in ("Hello there.", 'call weather {"city":"Rome"}\nIt is sunny.', 'call broken {"reason":"rain"}\nIt did not work.', "fail"):
            try:
                async for event in client.stream_message(text):
                    print(place, json.dumps([text, event.event_type, event.content, event.is_final]))
            except Exception as fault:
                print(place, json.dumps([text, type(fault).__name__, str(fault).replace(url, "")]))


asyncio.run(main(sys.argv[1].rstrip("/")))
