"""fasta2a's own client has short talks with an agent at the given URL and prints what it got, without what differs by chance. The A2A SDK's
client cannot read fasta2a's timestamps, which have no time zone."""

import asyncio
import json
import sys

from fasta2a.client import A2AClient

CHANCE = {"id", "task_id", "taskId", "context_id", "contextId", "message_id", "messageId", "timestamp", "artifact_id", "artifactId"}
TALKS = ["Hello there.", 'call weather {"city":"Rome"}\nIt is sunny.', "fail"]


def plain(value):
    if isinstance(value, dict):
        return {k: plain(v) for k, v in sorted(value.items()) if k not in CHANCE}
    return [plain(v) for v in value] if isinstance(value, list) else value


async def main(url):
    client = A2AClient(url, fetch_card=True)  # asks at the address of the card
    async with client.http_client:
        for number, text in enumerate(TALKS):
            message = {"kind": "message", "message_id": f"m-{number}", "role": "user", "parts": [{"kind": "text", "text": text}]}
            pieces = ""  # how the text is cut is chance
            async for said in client.stream_message(message):
                update = said.get("result", {}).get("artifact_update", {})
                if update.get("append"):
                    pieces += "".join(part["text"] for part in update["artifact"]["parts"])
                else:
                    print(f"{text!r}:", json.dumps(plain(said)))
            print(f"{text!r} in pieces:", json.dumps(pieces))


asyncio.run(main(sys.argv[1].rstrip("/")))
