// Serves the shapes with ADK's own API server and records what the server writes and which spans it makes.
//
// launch.mjs list         prints the shapes as JSON
// launch.mjs serve PORT   serves them on 127.0.0.1
//
// The recorder wraps the requests of Node's HTTP server. It passes everything on unchanged and reads the clock just before the
// server writes a frame. GET /recording/SESSION returns the session's runs.
import {AsyncLocalStorage} from 'node:async_hooks';
import http from 'node:http';

import {LogLevel, maybeSetOtelProviders, setLogLevel, version} from '@google/adk';
import {AdkApiServer} from '@google/adk-devtools';

import * as scripted from './scripted.mjs';
import {SHAPES, built} from './shapes/index.mjs';

const KEPT = [
  'error.type', 'gcp.vertex.agent.event_id', 'gen_ai.agent.name', 'gen_ai.tool.call.id', 'gen_ai.tool.name',
  'gen_ai.usage.input_tokens', 'gen_ai.usage.output_tokens',
];
const RUN = new AsyncLocalStorage(); // the recording of the request that is served
const sessions = new Map();

// OpenTelemetry starts a span at a whole millisecond. Frames have the same clock, so that neither precedes its cause.
const now = () => BigInt(Date.now()) * 1_000_000n;
const nanoseconds = ([seconds, rest]) => BigInt(seconds) * 1_000_000_000n + BigInt(rest);

/** A span processor that files each span under the run that was served when the span started. */
const filer = {
  onStart(span) {
    RUN.getStore()?.spans.push(span);
  },
  onEnd() {},
  forceFlush: async () => {},
  shutdown: async () => {},
};

/** Leaves out what is usual, and attributes with content. A span that ADK never ended lasts as long as its run. */
function describe(span, run) {
  const described = {
    name: span.name,
    id: span.spanContext().spanId,
    parent: span.parentSpanContext?.spanId,
    start: nanoseconds(span.startTime),
    end: span.ended ? nanoseconds(span.endTime) : run.ended,
    status: span.status.code === 2 ? 'ERROR' : undefined,
  };
  const attributes = Object.fromEntries(KEPT.filter((key) => key in span.attributes).map((key) => [key, span.attributes[key]]));
  return Object.keys(attributes).length > 0 ? {...described, attributes} : described;
}

function record(request, response) {
  const run = {arrived: now(), frames: [], spans: [], ended: 0n};
  run.session = () => request.body.sessionId;
  const pass = {write: response.write.bind(response), end: response.end.bind(response)};
  const frames = (chunk) => {
    const at = now();
    for (const frame of String(chunk ?? '').split('\n\n').filter(Boolean)) run.frames.push({at, data: frame.replace(/^data: /, '')});
  };
  response.write = (chunk, ...rest) => {
    frames(chunk);
    return pass.write(chunk, ...rest);
  };
  response.end = (chunk, ...rest) => {
    frames(chunk);
    run.ended = now();
    sessions.set(run.session(), [...(sessions.get(run.session()) ?? []), {...run, request: request.body}]);
    return pass.end(chunk, ...rest);
  };
  return run;
}

function answer(session, response) {
  const runs = (sessions.get(session) ?? []).map(({request, arrived, ended, frames, spans}) =>
    ({request, arrived, ended, frames, spans: spans.map((span) => describe(span, {ended}))}));
  // Nanoseconds are too large for a number of JavaScript's.
  const text = JSON.stringify(runs, (_, value) => (typeof value === 'bigint' ? `@${value}@` : value));
  response.setHeader('Content-Type', 'application/json');
  response.end(text.replace(/"@(\d+)@"/g, '$1'));
}

function serve(port) {
  const emit = http.Server.prototype.emit;
  http.Server.prototype.emit = function (event, request, response) {
    if (event !== 'request') return emit.apply(this, arguments);
    if (request.url.startsWith('/recording/')) return answer(request.url.split('/')[2], response);
    if (request.url !== '/run_sse') return emit.apply(this, arguments);
    return RUN.run(record(request, response), () => emit.apply(this, arguments));
  };
  scripted.session(() => RUN.getStore()?.session() ?? '');
  maybeSetOtelProviders([{spanProcessors: [filer]}]);
  const loader = {
    listAgents: async () => Object.keys(SHAPES),
    getAgentFile: async (name) => ({load: async () => built(name), [Symbol.asyncDispose]: async () => {}}),
  };
  new AdkApiServer({host: '127.0.0.1', port, agentLoader: loader}).start();
}

function list() {
  const shapes = Object.values(SHAPES).map(({name, steps, streamed}) => {
    const agent = built(name);
    return {name, root: (agent.rootAgent ?? agent).name, steps, streamed, sessions: 1};
  });
  console.log(JSON.stringify({version, shapes}));
}

setLogLevel(LogLevel.ERROR); // it logs to standard output
if (process.argv[2] === 'list') list();
else serve(Number(process.argv[3]));
