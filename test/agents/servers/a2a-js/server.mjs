// The A2A SDK for JavaScript's own server, over JSON-RPC and REST.
import { randomUUID } from "node:crypto";
import express from "express";
import { Role, TaskState } from "@a2a-js/sdk";
import { AgentEvent, DefaultRequestHandler, InMemoryTaskStore } from "@a2a-js/sdk/server";
import { agentCardHandler, jsonRpcHandler, restHandler, UserBuilder } from "@a2a-js/sdk/server/express";

const part = (value) => ({ content: { $case: "text", value }, metadata: undefined, filename: "", mediaType: "text/plain" });
const wait = (ms) => new Promise((done) => setTimeout(done, ms));
const canceled = new Set();

const executor = {
  async execute({ userMessage, taskId, contextId, task }, bus) {
    const said = userMessage.parts[0].content.value;
    const message = (text, of = taskId) => ({ messageId: randomUUID(), contextId, taskId: of, role: Role.ROLE_AGENT, parts: [part(text)], metadata: undefined, extensions: [], referenceTaskIds: [] });
    const status = (state, text) => ({ state, message: text && message(text), timestamp: new Date().toISOString() });
    const update = (state, text) => bus.publish(AgentEvent.statusUpdate({ taskId, contextId, status: status(state, text), metadata: undefined }));
    if (said === "hello") {
      bus.publish(AgentEvent.message(message("Hello there.", "")));
      return bus.finished();
    }
    if (said === "raise") throw new Error("the agent is on fire");
    bus.publish(AgentEvent.task(task ?? { id: taskId, contextId, status: status(TaskState.TASK_STATE_SUBMITTED), artifacts: [], history: [userMessage], metadata: undefined }));
    update(TaskState.TASK_STATE_WORKING, "I look it up.");
    const ends = { ask: [TaskState.TASK_STATE_INPUT_REQUIRED, "Which city?"], "sign in": [TaskState.TASK_STATE_AUTH_REQUIRED, "Sign in first."], fail: [TaskState.TASK_STATE_FAILED, "It did not work."] };
    if (ends[said]) {
      update(...ends[said]);
      return bus.finished();
    }
    if (said === "raise later") throw new Error("the agent is on fire");
    for (let n = 0; said === "slow" && n < 8; n++) {
      await wait(250);
      if (canceled.has(taskId)) {
        update(TaskState.TASK_STATE_CANCELED);
        return bus.finished();
      }
      update(TaskState.TASK_STATE_WORKING, `Step ${n}.`);
    }
    const artifact = (text, append) => ({ taskId, contextId, append, lastChunk: append, metadata: undefined, artifact: { artifactId: "answer", name: "answer", description: "", parts: [part(text)], metadata: undefined, extensions: [] } });
    bus.publish(AgentEvent.artifactUpdate(artifact("It is ", false)));
    bus.publish(AgentEvent.artifactUpdate(artifact("sunny.", true)));
    update(TaskState.TASK_STATE_COMPLETED, "It is sunny.");
    bus.finished();
  },
  async cancelTask(taskId) {
    canceled.add(taskId);
  },
};

const url = `http://127.0.0.1:${process.env.PORT}`;
const card = {
  name: "meteorologist", description: "knows the weather", version: "1", provider: undefined, securitySchemes: {}, securityRequirements: [], signatures: [],
  capabilities: { streaming: true, pushNotifications: false, extensions: [] }, defaultInputModes: ["text/plain"], defaultOutputModes: ["text/plain"],
  skills: [{ id: "weather", name: "weather", description: "tells", tags: ["weather"], examples: [], inputModes: [], outputModes: [], securityRequirements: [] }],
  supportedInterfaces: [
    { url: `${url}/`, protocolBinding: "JSONRPC", tenant: "", protocolVersion: "1.0" },
    { url, protocolBinding: "HTTP+JSON", tenant: "", protocolVersion: "1.0" },
  ],
};
const requestHandler = new DefaultRequestHandler(card, new InMemoryTaskStore(), executor);
const userBuilder = UserBuilder.noAuthentication;
const app = express();
app.use("/.well-known/agent-card.json", agentCardHandler({ agentCardProvider: requestHandler }));
app.post("/", jsonRpcHandler({ requestHandler, userBuilder }));
app.use("/", restHandler({ requestHandler, userBuilder }));
app.listen(Number(process.env.PORT), "127.0.0.1");
