// A model that plays a script, as Gemini would answer: ADK's own Gemini class asks it in place of Google's client.
import {setTimeout as sleep} from 'node:timers/promises';

import {Gemini} from '@google/adk';
import {SpanStatusCode, trace} from '@opentelemetry/api';

const tracer = trace.getTracer('scripted');
const asked = new Map(); // how often a session has asked a script
let scripts = 0;
let current = () => '';

/** session sets the function that returns the id of the session that asks. */
export function session(of) {
  current = of;
}

const turn = (chunks, options = {}) => ({chunks, after: 0.03, finish: 'STOP', usage: true, ...options});

const split = (rest) => (typeof rest.at(-1) === 'object' ? [rest.slice(0, -1), rest.at(-1)] : [rest, {}]);

/** Answers with a text, streamed in as many chunks as there are texts; options may follow. */
export function say(...rest) {
  const [texts, options] = split(rest);
  return turn(texts.map((text) => [{text}]), options);
}

export const think = (thought, text, options) => turn([[{text: thought, thought: true}], [{text}]], options);

export const called = (name, args = {}) => ({functionCall: {name, args}});

export const call = (name, args, options) => turn([[called(name, args)]], options);

/** Calls several tools in one answer. */
export const calls = (...parts) => turn([parts]);

/** Answers with parts, a chunk for each. */
export const parts = (list, options) => turn(list.map((part) => [part]), options);

/** Ends with a reason other than STOP; without texts, without content. */
export function stop(finish, ...rest) {
  const [texts, options] = split(rest);
  return turn(texts.length > 0 ? texts.map((text) => [{text}]) : [[]], {...options, finish});
}

/** Fails with an error, or as Google's client does after an HTTP status; when streaming, after the texts. */
export function fail(error, ...rest) {
  if (typeof error === 'number') {
    const status = {429: 'RESOURCE_EXHAUSTED', 503: 'UNAVAILABLE'}[error];
    error = new Error(JSON.stringify({error: {code: error, message: 'the model is out of order', status}}));
  }
  const [texts, options] = split(rest);
  return turn(texts.map((text) => [{text}]), {...options, finish: undefined, error});
}

/** The response with the chunks so far: usage grows as Gemini's does. */
function response(played, number, chunk, content) {
  const candidate = {index: 0};
  if (content.length > 0) candidate.content = {role: 'model', parts: structuredClone(content)};
  if (chunk === played.chunks.length && played.finish) candidate.finishReason = played.finish;
  const answer = {candidates: [candidate], modelVersion: 'scripted-001'};
  if (played.usage) answer.usageMetadata = usage(played, number, chunk);
  return answer;
}

function usage(played, number, chunk) {
  const said = played.chunks.slice(0, chunk).flat();
  const thoughts = 2 * said.filter((part) => part.thought).length;
  const candidates = 3 * said.filter((part) => !part.thought).length;
  const prompt = 100 + 10 * number;
  const counted = {promptTokenCount: prompt, candidatesTokenCount: candidates, totalTokenCount: prompt + candidates + thoughts};
  return thoughts > 0 ? {...counted, thoughtsTokenCount: thoughts} : counted;
}

/** The parts of all chunks, with neighboring texts as one. */
function merged(chunks) {
  const all = [];
  for (const part of chunks.flat()) {
    const last = all.at(-1);
    if (last?.text && part.text && last.thought === part.thought) last.text += part.text;
    else all.push({...part});
  }
  return all;
}

/** The answer after a script without a last word. */
const over = say('Nothing more.');

/** A model call's own span. That of ADK lasts until the tools have answered, and never fails. */
class Asked {
  constructor(played, number) {
    this.span = tracer.startSpan('generate_content scripted');
    if (played.usage && !played.error) {
      const {promptTokenCount, candidatesTokenCount, thoughtsTokenCount = 0} = usage(played, number, played.chunks.length);
      this.span.setAttributes({
        'gen_ai.usage.input_tokens': promptTokenCount,
        'gen_ai.usage.output_tokens': candidatesTokenCount + thoughtsTokenCount,
      });
    }
  }

  end(error) {
    if (error) this.span.setStatus({code: SpanStatusCode.ERROR});
    this.span.end();
  }
}

class Scripted extends Gemini {
  constructor(turns) {
    super({model: 'gemini-scripted', apiKey: 'none'});
    this.turns = turns;
    this.script = scripts++;
  }

  get apiClient() {
    return {
      vertexai: false,
      models: {generateContent: () => this.whole(), generateContentStream: () => this.streamed()},
    };
  }

  next() {
    const key = `${current()} ${this.script}`;
    const number = asked.get(key) ?? 0;
    asked.set(key, number + 1);
    // An agent that gets control back must not hand it over forever.
    const played = this.turns[number] ?? this.turns.findLast((turn) => !turn.chunks.flat().some((part) => part.functionCall)) ?? over;
    return {played, number, span: new Asked(played, number)};
  }

  async whole() {
    const {played, number, span} = this.next();
    await sleep(1000 * played.after);
    span.end(played.error);
    if (played.error) throw played.error;
    return response(played, number, played.chunks.length, merged(played.chunks));
  }

  async streamed() {
    const {played, number, span} = this.next();
    await sleep(1000 * played.after);
    if (played.error && played.chunks.length === 0) {
      span.end(played.error);
      throw played.error;
    }
    return (async function* () {
      for (const [i, chunk] of played.chunks.entries()) {
        if (i === played.chunks.length - 1) span.end(played.error);
        yield response(played, number, i + 1, chunk);
      }
      if (played.error) throw played.error;
    })();
  }
}

export const model = (...turns) => new Scripted(turns);
