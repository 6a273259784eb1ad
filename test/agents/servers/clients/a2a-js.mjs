// The A2A SDK for JavaScript's own client asks a server at the given URL, by the addresses of its card, and prints what it got, without what
// differs by chance.
import { Role } from "@a2a-js/sdk";
import { ClientFactory, ClientFactoryOptions, DefaultAgentCardResolver, JsonRpcTransportFactory, RestTransportFactory } from "@a2a-js/sdk/client";

const url = process.argv[2].replace(/\/$/, "");
const chance = new Set(["id", "taskId", "contextId", "messageId", "timestamp"]);
const tell = (what, value) => console.log(what, JSON.stringify(value, (key, v) => (chance.has(key) ? undefined : v)));

async function* caught(stream) {
  try {
    yield* stream;
  } catch (fault) {
    yield [fault.constructor.name, String(fault.message).replaceAll(url, "")];
  }
}

async function listen(what, stream, first = () => {}) {
  for await (const said of caught(stream)) {
    tell(what, said);
    if (said.payload?.$case === "task") first(said.payload.value.id);
  }
}

for (const [name, transport] of [["JSONRPC", new JsonRpcTransportFactory()], ["HTTP+JSON", new RestTransportFactory()]]) {
  const card = await new DefaultAgentCardResolver().resolve(url);
  card.supportedInterfaces = card.supportedInterfaces.filter(({ protocolBinding }) => protocolBinding === name);
  const client = await new ClientFactory({ ...ClientFactoryOptions.default, transports: [transport] }).createFromAgentCard(card);
  const ask = (text) =>
    client.sendMessageStream({
      message: { messageId: `m-${text}`, contextId: "", taskId: "", role: Role.ROLE_USER, extensions: [], referenceTaskIds: [], metadata: undefined, parts: [{ content: { $case: "text", value: text }, metadata: undefined, filename: "", mediaType: "text/plain" }] },
      configuration: undefined, metadata: undefined, tenant: "",
    });
  for (const text of ["hello", "weather", "ask", "sign in", "fail", "raise", "raise later"]) await listen(`${name} ${text}:`, ask(text));
  await listen(`${name} nobody:`, client.resubscribeTask({ id: "nobody", tenant: "" }));
  let found;
  const first = new Promise((resolve) => (found = resolve));
  const speaker = listen(`${name} slow:`, ask("slow"), found);
  const heard = [];
  for await (const said of caught(client.resubscribeTask({ id: await first, tenant: "" }))) heard.push(said);
  await speaker;
  tell(`${name} second listener:`, heard.slice(-3)); // when it came is chance
}
