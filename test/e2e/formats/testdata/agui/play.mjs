// Runs streams through the AG-UI project's own schemas, verifier and client. Each line of input is {"file"}, with the name of a
// text/event-stream, or {"url"}; with "each", only the schemas check it, event by event. Each line of output is a result.
import { readFile } from "node:fs/promises";
import { createInterface } from "node:readline";
import { from, lastValueFrom, toArray } from "rxjs";
import { EventSchemas } from "@ag-ui/core/schemas";
import { HttpAgent, verifyEvents } from "@ag-ui/client";

// The client only warns about what it removes from a stream.
let warnings = [];
console.warn = (...words) => warnings.push(words.join(" "));
console.error = () => {};

async function play({ file, url, each }) {
  warnings = [];
  const said = { name: file ?? url, events: 0, runs: 0, errors: 0, rejected: "", messages: [], activities: [], fault: "" };
  if (each) {
    said.faults = eventsOf(await readFile(file, "utf8")).map((event) => String(EventSchemas.safeParse(event).error ?? ""));
    return said;
  }
  const agent = new HttpAgent({ url: url ?? "http://stream.invalid/", fetch: fetchOf(file) });
  const count = ({ event }) => {
    if (event.type === "RUN_STARTED") said.runs++;
    if (event.type === "RUN_ERROR") said.errors++;
    said.events++;
  };
  try {
    if (file) await verify(eventsOf(await readFile(file, "utf8")));
    await agent.runAgent({}, { onEvent: count }).catch((why) => {
      if (said.errors === 0) throw why;
      said.rejected = String(why.message ?? why); // a failed run rejects the client's promise
    });
  } catch (fault) {
    said.fault = String(fault.message ?? fault);
  }
  said.activities = agent.messages.filter(({ role }) => role === "activity").map(({ content }) => content);
  said.messages = agent.messages.map(({ role, content }) => ({ role, content: typeof content === "string" ? content : "" }));
  said.fault ||= warnings[0] ?? "";
  return said;
}

const verify = async (events) =>
  events.length > 0 && lastValueFrom(from(events.map((event) => EventSchemas.parse(event))).pipe(verifyEvents(), toArray()));

// fetchOf sends a GET as a subscriber does. On its own the client would post the request for a run.
function fetchOf(file) {
  if (!file) return (url, { headers, signal }) => fetch(url, { headers: { ...headers, accept: "text/event-stream" }, signal });
  return async () => new Response(await readFile(file), { headers: { "content-type": "text/event-stream" } });
}

function eventsOf(stream) {
  const blocks = stream.split("\n\n").map((block) =>
    block.split("\n").filter((line) => line.startsWith("data:")).map((line) => line.slice(5).replace(/^ /, "")));
  return blocks.filter((lines) => lines.length > 0).map((lines) => JSON.parse(lines.join("\n")));
}

for await (const line of createInterface({ input: process.stdin })) {
  console.log(JSON.stringify(await play(JSON.parse(line))));
}
