// OpenAI's own client asks a server at the given URL and prints what it got, without what differs by chance.
import OpenAI from "openai";

const chance = new Set(["id", "created", "created_at", "completed_at", "item_id", "response_id"]);
const plain = (key, value) => (chance.has(key) ? undefined : typeof value === "string" ? value.replace(/(call_weather_\d+)_\d+/g, "$1") : value);
const client = new OpenAI({ baseURL: `${process.argv[2].replace(/\/$/, "")}/v1`, apiKey: "none", maxRetries: 0 });
const weather = { name: "weather", parameters: { type: "object", properties: {} } };

const tell = async (what, asked, most = Infinity) => {
  try {
    for await (const event of await asked) {
      console.log(what, JSON.stringify(event, plain));
      if (--most === 0) break;
    }
  } catch (fault) {
    console.log(what, fault.constructor.name, fault.message, JSON.stringify(fault.error, plain));
  }
};
const chat = (text, more) =>
  client.chat.completions.create({ model: "scripted", messages: [{ role: "user", content: text }], tools: [{ type: "function", function: weather }], stream: true, ...more });
const respond = (text) => client.responses.create({ model: "scripted", input: text, tools: [{ type: "function", ...weather }], stream: true });

for (const text of ["Hello there.", 'call weather {"city":"Rome"} & call weather {"city":"Oslo"}', "think aloud", "spoil", "fail"]) {
  await tell(`chat ${text}:`, chat(text, { stream_options: { include_usage: true } }));
  await tell(`response ${text}:`, respond(text));
}
await tell("choices:", chat("Hello there.", { n: 2 }));
await tell("chat, left:", chat("slow"), 1);
await tell("response, left:", respond("slow"), 1);
console.log("final:", JSON.stringify(await client.responses.stream({ model: "scripted", input: "Hello there." }).finalResponse(), plain));
