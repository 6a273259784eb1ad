// Vercel's AI SDK: the stream of UI messages that useChat reads. /chat is the shortest server; /api/chat uses what the SDK has for
// applications: message IDs, metadata, sources, approvals, resumption. /spans has the SDK's own spans.
import { createServer } from "node:http";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { AsyncLocalStorageContextManager } from "@opentelemetry/context-async-hooks";
import { context } from "@opentelemetry/api";
import { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from "@opentelemetry/sdk-trace-base";
import { convertToModelMessages, createUIMessageStream, pipeUIMessageStreamToResponse, readUIMessageStream, stepCountIs, streamText, tool } from "ai";
import { page } from "./page.mjs";
import { z } from "zod";

process.on("unhandledRejection", () => {}); // of an aborted request to the model
context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
const spans = new InMemorySpanExporter();
const tracer = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(spans)] }).getTracer("ai");

const model = createOpenAICompatible({ name: "scripted", baseURL: process.env.MODEL_URL, apiKey: "none", includeUsage: true })("scripted");
const onError = (fault) => String(fault?.message ?? fault);
const telemetry = (functionId, chat) => ({ isEnabled: true, tracer, functionId, metadata: { chat } });
const report = (text) => new Promise((done) => setTimeout(() => done(text), 20)); // so that tools take some time

const tools = {
  weather: tool({ description: "returns the weather", inputSchema: z.object({ city: z.string() }), execute: ({ city }) => report(`sunny in ${city}`) }),
  broken: tool({
    description: "fails", inputSchema: z.object({ reason: z.string() }),
    execute: async ({ reason }) => {
      throw new Error(`no luck: ${reason}`);
    },
  }),
  pay: tool({ description: "pays, if somebody agrees", inputSchema: z.object({ amount: z.number() }), needsApproval: true, execute: ({ amount }) => report(`paid ${amount}`) }),
  color: tool({ description: "changes the color of the page, which runs it", inputSchema: z.object({ name: z.string() }) }),
  research: tool({
    description: "asks another agent", inputSchema: z.object({ task: z.string() }),
    async *execute({ task }, { abortSignal }) {
      const inner = streamText({ model, tools: { weather: tools.weather }, prompt: task, stopWhen: stepCountIs(5), abortSignal, experimental_telemetry: telemetry("researcher") });
      for await (const message of readUIMessageStream({ stream: inner.toUIMessageStream() })) yield message;
    },
    toModelOutput: ({ output }) => ({ type: "text", value: output.parts.findLast(({ type }) => type === "text")?.text ?? "nothing" }),
  }),
};

async function answer(messages, chat, abortSignal, onChunk) {
  return streamText({
    model, tools, abortSignal, onChunk, messages: await convertToModelMessages(messages), stopWhen: stepCountIs(5), maxRetries: 0, onError: () => {}, experimental_telemetry: telemetry("assistant", chat),
  });
}

const active = new Map(); // by chat, what its stream has said so far, and who listens

// keep lets the stream of a chat be read again from its beginning, as the package resumable-stream does.
function keep(chat, stream) {
  const kept = { said: [], listeners: new Set() };
  active.set(chat, kept);
  void (async () => {
    for await (const chunk of stream) {
      kept.said.push(chunk);
      for (const listener of kept.listeners) listener.write(chunk);
    }
    active.delete(chat);
    for (const listener of kept.listeners) listener.end();
  })();
}

function resume(chat, response) {
  const kept = active.get(chat);
  if (!kept) return response.writeHead(204).end();
  response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-cache", "x-vercel-ai-ui-message-stream": "v1", "x-accel-buffering": "no" });
  for (const chunk of kept.said) response.write(chunk);
  kept.listeners.add(response);
  response.on("close", () => kept.listeners.delete(response));
}

const metadata = ({ part }) => {
  if (part.type === "start") return { model: "scripted", secret: "a note of the application" };
  if (part.type === "finish") return { usage: part.totalUsage };
};

let made = 0;
const options = (messages) => ({ originalMessages: messages, generateMessageId: () => `message-${++made}`, messageMetadata: metadata, sendSources: true, onError });

const routes = {
  async "POST /chat"({ messages }, response) {
    (await answer(messages)).pipeUIMessageStreamToResponse(response, { onError });
  },
  async "POST /api/chat"({ id, messages }, response) {
    (await answer(messages, id)).pipeUIMessageStreamToResponse(response, { ...options(messages), consumeSseStream: ({ stream }) => keep(id, stream) });
  },
  // The answer ends when the client leaves, and the model is no longer asked.
  async "POST /api/stoppable"({ id, messages }, response) {
    const left = new AbortController();
    response.on("close", () => left.abort());
    (await answer(messages, id, left.signal)).pipeUIMessageStreamToResponse(response, options(messages));
  },
  async "POST /api/aborted"({ id, messages }, response) {
    const enough = new AbortController();
    let words = 0; // after two, however slow the machine is
    const onChunk = ({ chunk }) => {
      if (chunk.type === "text-delta" && ++words === 2) enough.abort(new DOMException("the budget is spent", "AbortError"));
    };
    (await answer(messages, id, enough.signal, onChunk)).pipeUIMessageStreamToResponse(response, options(messages));
  },
  // Everything else that an application may write.
  async "POST /api/extras"({ messages }, response) {
    const stream = createUIMessageStream({
      originalMessages: messages, generateId: () => `message-${++made}`, onError,
      execute: async ({ writer }) => {
        writer.write({ type: "data-progress", data: { percent: 10, note: "a note of the application" }, transient: true });
        writer.write({ type: "data-table", id: "table-1", data: { rows: [1] } });
        writer.write({ type: "source-url", sourceId: "s1", url: "https://example.org/rain", title: "Rain" });
        writer.write({ type: "source-document", sourceId: "s2", mediaType: "application/pdf", title: "Clouds", filename: "clouds.pdf" });
        writer.write({ type: "file", mediaType: "text/plain", url: "data:text/plain;base64,c3Vubnk=" });
        writer.merge((await answer(messages)).toUIMessageStream({ onError }));
        writer.write({ type: "data-table", id: "table-1", data: { rows: [1, 2] } });
      },
    });
    pipeUIMessageStreamToResponse({ response, stream });
  },
  async "GET /spans"(_, response) {
    const told = spans.getFinishedSpans().map((span) => ({ name: span.name, attributes: span.attributes, failed: span.status.code === 2, id: span.spanContext().spanId, parent: span.parentSpanContext?.spanId }));
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(told));
  },
  async "GET /page"(_, response) {
    response.writeHead(200, { "content-type": "text/html; charset=utf-8" }).end(await page());
  },
};

createServer(async (request, response) => {
  const resumed = /^GET \/api\/chat\/(.*)\/stream$/.exec(`${request.method} ${request.url}`);
  if (resumed) return resume(decodeURIComponent(resumed[1]), response);
  const route = routes[`${request.method} ${request.url.split("?")[0]}`];
  if (!route) return response.writeHead(404).end();
  let body = "";
  for await (const chunk of request) body += chunk;
  await route(body && JSON.parse(body), response);
}).listen(Number(process.env.PORT), "127.0.0.1");
