// Vercel's AI SDK: the stream of UI messages that useChat reads, and the plain stream of a completion.
import { createServer } from "node:http";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { convertToModelMessages, stepCountIs, streamText, tool } from "ai";
import { z } from "zod";

const model = createOpenAICompatible({ name: "scripted", baseURL: process.env.MODEL_URL, apiKey: "none" })("scripted");
const tools = {
  weather: tool({ description: "returns the weather", inputSchema: z.object({ city: z.string() }), execute: async ({ city }) => `sunny in ${city}` }),
  broken: tool({
    description: "fails", inputSchema: z.object({ reason: z.string() }),
    execute: async ({ reason }) => {
      throw new Error(`no luck: ${reason}`);
    },
  }),
};

createServer(async (request, response) => {
  let body = "";
  for await (const chunk of request) body += chunk;
  const { messages } = JSON.parse(body);
  const result = streamText({ model, tools, messages: await convertToModelMessages(messages), stopWhen: stepCountIs(5), maxRetries: 0, onError: () => {} });
  result.pipeUIMessageStreamToResponse(response, { onError: (fault) => String(fault.message ?? fault) });
}).listen(Number(process.env.PORT), "127.0.0.1");
