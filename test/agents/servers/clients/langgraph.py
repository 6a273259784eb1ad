"""Asks a LangGraph server as the SDK for Python does, and prints what comes, without ids."""

import asyncio
import json
import re
import sys

from langgraph_sdk import get_client

SUBAGENT = 'call task {"description":"call weather {\\"city\\":\\"Oslo\\"}\\nIt is sunny there.","subagent_type":"expert"}\nThe expert knows.'
TWO_TOOLS = 'call weather {"city":"Rome"} & call weather {"city":"Oslo"}\nSunny in both.'
HANDOFFS = [("swarm", "call transfer_to_agent\nStay inside."), ("supervisor", "call transfer_to_expert\nStay inside.")]
ALL = ["values", "updates", "messages-tuple", "custom", "tasks", "checkpoints", "debug"]


async def main():
    client = get_client(url=sys.argv[1])
    for graph, say, modes in [
        ("plain", "Hello there.", ["values"]), ("plain", "Hello there.", ["messages"]), ("plain", "Hello there.", ALL + ["events"]),
        ("tools", TWO_TOOLS, ["messages-tuple"]), ("tools", TWO_TOOLS, ["updates"]), ("tools", TWO_TOOLS, ["values"]), ("tools", TWO_TOOLS, ["tasks"]),
        ("tools", 'call broken {"reason":"rain"}', ["updates", "values"]),
        ("deep", SUBAGENT, ["updates", "messages-tuple"]), ("deep", SUBAGENT, ["values"]), ("deep", SUBAGENT, ["debug"]), ("deep", SUBAGENT, ["events"]),
        *[(graph, say, modes) for graph, say in HANDOFFS for modes in (["messages-tuple"], ["messages"], ["updates"], ["values"], ["tasks"], ["updates", "messages-tuple"])],
        ("nested", "Hello there.", ALL), ("plain", "think hard", ["messages-tuple"]), ("plain", "fail", ["values"]),
        ("retrieving", "Hello there.", ["messages-tuple"]), ("retrieving", "Hello there.", ["updates"]),
    ]:
        print(f"# {graph} {modes} {say!r}")
        thread = (await client.threads.create())["thread_id"]
        await show(client.runs.stream(thread, graph, input=said(say), stream_mode=modes, stream_subgraphs=True))
    await stateless(client)
    await asks(client)
    await joins(client)
    await together(client)
    await leaves(client)


async def stateless(client):
    print("# without a thread")
    await show(client.runs.stream(None, "plain", input=said("Hello there."), stream_mode=["values", "messages-tuple"]))


async def asks(client):
    print("# asks, and is answered")
    thread = (await client.threads.create())["thread_id"]
    await show(client.runs.stream(thread, "approving", input=said('call weather {"city":"Rome"}\nIt is sunny.'), stream_mode=["values", "updates"]))
    await show(client.runs.stream(thread, "approving", command={"resume": {"decisions": [{"type": "approve"}]}}, stream_mode=["values", "updates"]))
    await show(client.runs.stream(thread, "approving", input=said("Hello again."), stream_mode=["values"]))


async def joins(client):
    print("# listens to a thread")
    thread = (await client.threads.create())["thread_id"]
    heard = asyncio.create_task(hear(client, thread))
    await asyncio.sleep(1)
    for say in ("Hello there.", "Hello again."):
        await show(client.runs.stream(thread, "plain", input=said(say), stream_mode=["messages-tuple", "values"]))
    print(await heard)


async def hear(client, thread):
    """Returns how many frames of each kind the stream of a thread has until its second run is done."""
    counts, done = {}, 0
    async for part in await client.threads.join_stream(thread, stream_mode="run_modes"):
        counts[part.event] = counts.get(part.event, 0) + 1
        done += part.event == "metadata" and part.data.get("status") == "run_done"
        if done == 2:
            return sorted(counts.items())


async def together(client):
    print("# two runs of a thread, asked for at once")
    thread = (await client.threads.create())["thread_id"]
    asked = [client.runs.stream(thread, "plain", input=said(say), stream_mode=["messages-tuple"], multitask_strategy="enqueue") for say in ("One.", "Two.")]
    texts = await asyncio.gather(*(text(parts) for parts in asked))
    print(sorted(texts))


async def text(parts):
    return "".join([part.data[0]["content"] for part in [part async for part in parts] if part.event == "messages"])


async def leaves(client):
    print("# leaves, and comes back")
    thread, run, last = (await client.threads.create())["thread_id"], None, None
    stream = client.runs.stream(thread, "plain", input=said("slow"), stream_mode=["messages-tuple"], stream_resumable=True, on_disconnect="continue")
    async for part in stream:
        run = run or part.data["run_id"]
        last = part.id
        if part.event == "messages":
            break
    await stream.aclose()
    count, spoken = 0, ""
    async for part in client.runs.join_stream(thread, run, stream_mode=["messages-tuple"], last_event_id=last):
        count, spoken = count + 1, spoken + (part.data[0]["content"] if part.event == "messages" else "")
    print(count > 10, spoken)
    await show(client.runs.join_stream(thread, run, last_event_id="-1"))


async def show(parts):
    """Prints the frames in an order that does not depend on which of two parallel tools is faster, but not what models are told."""
    lines = [f"{anonymous(part.event)} {anonymous(json.dumps(part.data, sort_keys=True))}" async for part in parts]
    lines = [line for line in lines if not line.startswith("events ") or '"type": "system"' not in line]
    print("\n".join(sorted(lines)), flush=True)


def said(text):
    return {"messages": [{"role": "user", "content": text}]}


def anonymous(text):
    text = text.replace('"id": null', '"id": "ID"')  # the server gives some messages their id while it sends them
    text = re.sub(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|[0-9a-f]{32}", "ID", text)
    text = re.sub(r"call_[a-z_]+_\d_\d+", "CALL", text)
    text = re.sub(r"\d{4}-\d\d-\d\dT[0-9:.]+(\+00:00|Z)?", "TIME", text)
    text = re.sub(r'_ms__": \d+', '_ms__": 0', text)
    return re.sub(r"127\.0\.0\.1:\d+|00000000-0000-[0-9a-f-]+", "ADDRESS", text)


asyncio.run(main())
