// The AI SDK's own transport and reader ask a server at the given URL, and print what they got, without what differs by chance. They fail at
// a chunk that is not of the protocol, and at a piece whose beginning they did not get.
import { DefaultChatTransport, readUIMessageStream } from "ai";

const url = process.argv[2].replace(/\/$/, "");
const isVercel = (await fetch(`${url}/spans`)).ok; // the SDK's own server has more paths

const known = new Map();
const chance = /call_\w+|aitxt-\w+|message-\d+|[0-9a-f]{8}-[0-9a-f-]{27}|20\d\d-\d\d-\d\dT[\d:.]+Z/g;
const tell = (what, value) => console.log(what, JSON.stringify(value).replace(chance, (id) => (known.has(id) || known.set(id, `id${known.size}`), known.get(id))));

const user = (text) => ({ id: "m1", role: "user", parts: [{ type: "text", text }] });

// inOrder sorts results that follow each other as their calls began, since tools that work at the same time end in any order.
function inOrder(chunks) {
  const began = (chunk) => chunks.findIndex(({ toolCallId }) => toolCallId === chunk.toolCallId);
  const sorted = [];
  let results = [];
  for (const chunk of [...chunks, undefined]) {
    if (chunk?.type?.startsWith("tool-output-")) {
      results.push(chunk);
      continue;
    }
    sorted.push(...results.sort((a, b) => began(a) - began(b)));
    results = [];
    if (chunk !== undefined) sorted.push(chunk);
  }
  return sorted;
}

// read prints the chunks of a stream and the message that the SDK makes of them, and returns the message.
async function read(what, stream, message, quiet) {
  const [chunks, parts] = stream.tee();
  const got = [];
  const listed = (async () => {
    for await (const chunk of chunks) got.push(chunk);
  })().catch((fault) => got.push(String(fault)));
  let last = message;
  const faults = [];
  try {
    for await (const made of readUIMessageStream({ stream: parts, message, onError: (fault) => faults.push(fault.message) })) last = structuredClone(made);
  } catch (fault) {
    faults.push(`${fault.name}: ${fault.message}`);
  }
  await listed;
  if (!quiet) tell(`${what}: chunks`, inOrder(got));
  if (!quiet) tell(`${what}: message`, { last, faults });
  return last;
}

let chats = 0;

async function ask(what, text, { api = "/api/chat", messages = [user(text)], chat = `chat-${++chats}` } = {}) {
  const transport = new DefaultChatTransport({ api: url + api });
  const stream = await transport.sendMessages({ trigger: "submit-message", chatId: chat, messageId: undefined, messages });
  const before = messages.at(-1).role === "assistant" ? structuredClone(messages.at(-1)) : undefined;
  return { chat, messages: [...messages.filter(({ role }) => role === "user"), await read(what, stream, before)] };
}

// decide answers the question of an answer.
async function decide(what, text, approved) {
  const { chat, messages } = await ask(`${what}, asked`, text);
  const call = messages[1].parts.find(({ state }) => state === "approval-requested");
  Object.assign(call, { state: "approval-responded", approval: { id: call.approval.id, approved } });
  await ask(`${what}, answered`, "", { messages, chat });
}

await ask("plain", "Hello there.");
await ask("tool", 'call weather {"city":"Rome"}\nIt is sunny.');
await ask("two tools", 'call weather {"city":"Rome"} & call weather {"city":"Oslo"}\nSunny, both.');
await ask("failing tool", 'call broken {"reason":"rain"}\nIt did not work.');
await ask("refused call", 'call weather {"town":"Rome"}\nIt did not work.');
await ask("failing model", "fail");
await decide("approved", 'call pay {"amount":5}\nPaid.', true);
await decide("denied", 'call pay {"amount":5}\nNot paid.', false);
await ask("agent in a tool", isVercel ? 'call research {"task":"call weather {\\"city\\":\\"Bern\\"}\\nSunny there."}\nIt is sunny.' : 'call consult {"question":"Who knows?"}\nThe expert does.');
await ask("reasoning", "think aloud");
if (isVercel) await vercel();
await leave(isVercel ? "/api/stoppable" : "/api/chat");
if (isVercel) await reconnect();

async function vercel() {
  await ask("model that breaks off", "break");
  await ask("model that fails later", 'call weather {"city":"Rome"}\nfail');
  await ask("everything else", "Look at these.", { api: "/api/extras" });
  await ask("aborted", "slow", { api: "/api/aborted" });

  const { chat, messages } = await ask("tool of the client", 'call color {"name":"red"}\nRed it is.');
  Object.assign(messages[1].parts.at(-1), { state: "output-available", output: "done" });
  await ask("result of the client", "", { messages, chat });
}

// leave goes away in the middle of an answer.
async function leave(api) {
  const left = new AbortController();
  const transport = new DefaultChatTransport({ api: url + api });
  const stream = await transport.sendMessages({ trigger: "submit-message", chatId: "chat-left", messageId: undefined, messages: [user("slow")], abortSignal: left.signal });
  const got = [];
  try {
    for await (const chunk of stream) {
      got.push(chunk);
      if (got.length === 5) left.abort();
    }
  } catch (fault) {
    got.push(fault.name);
  }
  tell("left", got);
}

// reconnect reads an answer again while it comes, and after its first reader has left.
async function reconnect() {
  const transport = new DefaultChatTransport({ api: `${url}/api/chat` });
  const left = new AbortController();
  const first = await transport.sendMessages({ trigger: "submit-message", chatId: "chat-again", messageId: undefined, messages: [user("slow")], abortSignal: left.signal });
  const reader = first.getReader();
  for (let n = 0; n < 5; n++) await reader.read();
  const again = read("beside the first", await transport.reconnectToStream({ chatId: "chat-again" }));
  await reader.read();
  left.abort();
  await reader.read().catch(() => {});
  const after = await transport.reconnectToStream({ chatId: "chat-again" });
  await again;
  await read("after the first", after);
  tell("no answer", await transport.reconnectToStream({ chatId: "chat-again" }));
}
