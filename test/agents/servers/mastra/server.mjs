// Mastra's agent by AG-UI, as an application serves it: the package has no server.
import { createServer } from "node:http";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { EventEncoder } from "@ag-ui/encoder";
import { MastraAgent } from "@ag-ui/mastra";
import { Agent } from "@mastra/core/agent";
import { createTool } from "@mastra/core/tools";
import { z } from "zod";

const model = createOpenAICompatible({ name: "scripted", baseURL: process.env.MODEL_URL, apiKey: "none" })("scripted");
const weather = createTool({ id: "weather", description: "returns the weather", inputSchema: z.object({ city: z.string() }), execute: async () => "sunny" });
const broken = createTool({
  id: "broken", description: "fails", inputSchema: z.object({ reason: z.string() }),
  execute: async () => {
    throw new Error("no luck");
  },
});
const agent = new Agent({ id: "meteorologist", name: "meteorologist", instructions: "You know the weather.", model, tools: { weather, broken }, maxRetries: 0 });
const encoder = new EventEncoder();

createServer(async (request, response) => {
  let body = "";
  for await (const chunk of request) body += chunk;
  response.writeHead(200, { "content-type": encoder.getContentType(), "cache-control": "no-cache" });
  new MastraAgent({ agent, resourceId: "user" }).run(JSON.parse(body)).subscribe({
    next: (event) => response.write(encoder.encodeSSE(event)),
    error: (fault) => response.end(encoder.encodeSSE({ type: "RUN_ERROR", message: String(fault.message ?? fault) })),
    complete: () => response.end(),
  });
}).listen(Number(process.env.PORT), "127.0.0.1");
