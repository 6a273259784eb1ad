// The agents that the tests drive. The scripted model knows which of them asks by the word agent:NAME in its instruction.
import {AgentTool, FunctionTool, LlmAgent, LongRunningFunctionTool} from '@google/adk';

const model = 'gemini-2.5-flash';

const schema = (name, type) => ({type: 'OBJECT', properties: {[name]: {type}}, required: [name]});

// Waits until TOOL_GATE, where the environment has one, answers for the tool.
const gate = async (tool) => {
  const url = process.env.TOOL_GATE;
  if (url) await fetch(`${url}/${tool}`);
};

const getWeather = new FunctionTool({
  name: 'get_weather',
  description: 'Tells the weather of a city.',
  parameters: schema('city', 'STRING'),
  execute: async ({city}) => {
    await gate('get_weather');
    return {city, weather: 'sunny', celsius: 21};
  },
});

const getTime = new FunctionTool({
  name: 'get_time',
  description: 'Tells the time of a city.',
  parameters: schema('city', 'STRING'),
  execute: async ({city}) => {
    await gate('get_time');
    return {city, time: '10:30'};
  },
});

const failingTool = new FunctionTool({
  name: 'failing_tool',
  description: 'Always fails.',
  parameters: schema('reason', 'STRING'),
  execute: ({reason}) => {
    throw new Error('the tool failed: ' + reason);
  },
});

const requestApproval = new LongRunningFunctionTool({
  name: 'request_approval',
  description: 'Asks a human to approve an amount.',
  parameters: schema('amount', 'INTEGER'),
  execute: ({amount}) => ({status: 'pending', ticket: 'approval-1', amount}),
});

const requestSignature = new LongRunningFunctionTool({
  name: 'request_signature',
  description: 'Asks a human to sign a document, and says nothing until it is signed.',
  parameters: schema('document', 'STRING'),
  execute: () => undefined,
});

const deleteFiles = new FunctionTool({
  name: 'delete_files',
  description: 'Deletes a folder, once a human has confirmed it.',
  parameters: schema('folder', 'STRING'),
  requireConfirmation: true,
  execute: ({folder}) => ({deleted: folder}),
});

const saveReport = new FunctionTool({
  name: 'save_report',
  description: "Saves a report as an artifact, and notes it in the session's state.",
  parameters: schema('title', 'STRING'),
  execute: async ({title}, context) => {
    const data = Buffer.from('a report').toString('base64');
    const version = await context.saveArtifact('report.txt', {inlineData: {mimeType: 'text/plain', data}});
    context.state.set('last_report', title);
    context.state.set('temp:scratch', 'not kept');
    return {version};
  },
});

const lookupInvoice = new FunctionTool({
  name: 'lookup_invoice',
  description: 'Looks an invoice up.',
  parameters: schema('invoice', 'STRING'),
  execute: ({invoice}) => ({invoice, total: 42.5}),
});

const billingAgent = new LlmAgent({
  name: 'billing_agent',
  model,
  description: 'Answers questions about invoices.',
  instruction: 'agent:billing_agent',
  tools: [lookupInvoice],
});

const summarizer = new LlmAgent({
  name: 'summarizer',
  model,
  description: 'Makes a text shorter.',
  instruction: 'agent:summarizer',
});

export const rootAgent = new LlmAgent({
  name: 'coordinator',
  model,
  description: 'Answers or delegates.',
  instruction: 'agent:coordinator',
  tools: [
    getWeather,
    getTime,
    failingTool,
    requestApproval,
    requestSignature,
    deleteFiles,
    saveReport,
    new AgentTool({agent: summarizer}),
  ],
  subAgents: [billingAgent],
});
