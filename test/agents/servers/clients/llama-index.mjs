// AG-UI's own client has two turns with an agent at the given URL and prints what it got and sends, without what differs by chance.
import { HttpAgent } from "@ag-ui/client";

const names = new Map(); // ids are told by when they came
const nameOf = (id) => names.get(id) ?? names.set(id, `id-${names.size}`).get(id);
const plain = (key, value) => (/^(id|messageId|toolCallId|parentMessageId)$/.test(key) ? nameOf(value) : key === "timestamp" ? undefined : value);
const tell = (what, value) => console.log(what, JSON.stringify(value, plain));

const agent = new HttpAgent({ url: `${process.argv[2].replace(/\/$/, "")}/run`, threadId: "thread-1" });
let n = 0;
for (const said of ['call weather {"city":"Rome"}\nIt is sunny.', "And now?", 'call broken {"reason":"rain"}\nIt did not work.']) {
  agent.messages.push({ id: `m${n++}`, role: "user", content: said });
  const events = [];
  await agent.runAgent({ runId: `run-${n}` }, { onEvent: ({ event }) => void (event.type !== "MESSAGES_SNAPSHOT" && events.push(event)) }).catch((fault) => tell("fault", String(fault.message)));
  tell("events", events);
  tell("messages", agent.messages.filter(({ role }) => role !== "system"));
  agent.messages = agent.messages.filter(({ role }) => role !== "system"); // so both have the same history
}
