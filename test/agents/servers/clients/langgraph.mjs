// LangGraph's SDK for JavaScript asks a server at the given URL and prints what it got, without ids.
import { Client } from "@langchain/langgraph-sdk";

const client = new Client({ apiUrl: process.argv[2].replace(/\/$/, ""), apiKey: null });
const input = (content) => ({ messages: [{ role: "user", content }] });
const twoTools = 'call weather {"city":"Rome"} & call weather {"city":"Oslo"}\nSunny in both.';
const subagent = 'call task {"description":"Sunny in Oslo.","subagent_type":"expert"}\nThe expert knows.';
const swarm = 'call weather {"city":"Oslo"}\ncall transfer_to_agent\nStay inside.';
const newThread = async () => (await client.threads.create()).thread_id;

const anonymous = (text) =>
  text
    .replaceAll('"id":null', '"id":"ID"') // the server gives some messages their id while it sends them
    .replace(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|[0-9a-f]{32}/g, "ID")
    .replace(/call_[a-z_]+_\d_\d+/g, "CALL")
    .replace(/\d{4}-\d\d-\d\dT[0-9:.]+(\+00:00|Z)?/g, "TIME")
    .replace(/_ms__":\d+/g, '_ms__":0')
    .replace(/127\.0\.0\.1:\d+/g, "ADDRESS");

// sorted, because it differs which of two parallel tools is faster
const show = async (what, parts) => {
  const lines = [];
  for await (const part of parts) lines.push(anonymous(`${part.event} ${JSON.stringify(part.data)}`));
  console.log(`# ${what}\n${lines.sort().join("\n")}`);
};

for (const [graph, say, streamMode] of [
  ["plain", "Hello there.", ["values", "messages", "messages-tuple", "updates", "custom", "debug"]],
  ["tools", twoTools, ["messages-tuple", "values"]],
  ["tools", 'call broken {"reason":"rain"}', ["updates"]],
  ["deep", subagent, ["updates", "messages-tuple", "tasks"]],
  ["swarm", swarm, ["updates", "messages-tuple"]],
  ["plain", "fail", ["values"]],
]) {
  await show(`${graph} ${streamMode} ${say}`, client.runs.stream(await newThread(), graph, { input: input(say), streamMode, streamSubgraphs: true }));
}
await show("without a thread", client.runs.stream(null, "plain", { input: input("Hello there."), streamMode: ["values"] }));

const asking = await newThread();
await show("asks", client.runs.stream(asking, "asking", { input: input("Hello there."), streamMode: ["updates"] }));
await show("is answered", client.runs.stream(asking, "asking", { command: { resume: "Rome" }, streamMode: ["updates"] }));

// leaves a resumable stream, and comes back with Last-Event-ID
const thread = await newThread();
const left = new AbortController();
let run, last;
try {
  const options = { input: input("slow"), streamMode: ["messages-tuple"], streamResumable: true, onDisconnect: "continue", signal: left.signal };
  for await (const part of client.runs.stream(thread, "plain", options)) {
    run ??= part.data.run_id;
    last = part.id;
    if (part.event === "messages") break;
  }
} finally {
  left.abort();
}
let count = 0;
let text = "";
for await (const part of client.runs.joinStream(thread, run, { lastEventId: last, streamMode: ["messages-tuple"] })) {
  count++;
  if (part.event === "messages") text += part.data[0].content;
}
console.log(`# comes back\n${count > 10} ${text}`);
await show("from the beginning", client.runs.joinStream(thread, run, { lastEventId: "-1" }));
