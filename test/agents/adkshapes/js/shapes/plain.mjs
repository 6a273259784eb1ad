// One agent and its tools.
import {setTimeout as sleep} from 'node:timers/promises';

import {FunctionTool, LlmAgent} from '@google/adk';

import {call, called, calls, model, say} from '../scripted.mjs';
import {shape, text} from './registry.mjs';

const schema = (name, type = 'STRING') => ({type: 'OBJECT', properties: {[name]: {type}}, required: [name]});

export const tool = (name, parameter, execute) =>
  new FunctionTool({name, description: name, parameters: schema(parameter), execute});

export const weather = tool('weather', 'city', async ({city}) => {
  await sleep(100);
  return {city, weather: 'sunny'};
});

export const clock = tool('clock', 'city', async ({city}) => {
  await sleep(200);
  return {city, time: '10:30'};
});

export const broken = tool('broken', 'reason', async ({reason}) => {
  await sleep(50);
  throw new Error('the tool failed: ' + reason);
});

const refusing = tool('refusing', 'reason', async ({reason}) => {
  await sleep(50);
  return {error: 'refused: ' + reason};
});

const saveReport = tool('save_report', 'title', async ({title}, context) => {
  const version = await context.saveArtifact('report.txt', {inlineData: {mimeType: 'text/plain', data: 'YSByZXBvcnQ='}});
  context.state.set('last_report', title);
  return {version};
});

/** An agent whose model plays turns; options precede them. */
export const agent = (name, options, ...turns) => new LlmAgent({name, description: name, model: model(...turns), ...options});

const rome = {city: 'Rome'};

shape('plain', () => agent('plain', {}, say('Hello ', 'there.', {after: 0.1})), {streamed: true});
shape('plain_renamed', () => agent('helper', {}, say('Hello there.', {after: 0.1})));
shape('one_tool', () => agent('one_tool', {tools: [weather]}, call('weather', rome, {after: 0.1}), say('It is ', 'sunny.')),
  {streamed: true});
shape('parallel_tools', () => agent('assistant', {tools: [weather, clock]},
  calls(called('weather', rome), called('clock', rome), called('weather', {city: 'Oslo'})), say('Sunny at 10:30.')), {streamed: true});
shape('tool_rounds', () => agent('tool_rounds', {tools: [weather, clock]},
  call('weather', rome), call('clock', rome), say('Sunny at 10:30.')), {streamed: true});
shape('tool_after_text', () => {
  const turn = call('weather', rome);
  turn.chunks.unshift([{text: 'Let me look. '}]);
  return agent('tool_after_text', {tools: [weather]}, turn, say('Sunny.'));
}, {streamed: true});
shape('tool_raises', () => agent('tool_raises', {tools: [broken]}, call('broken', {reason: 'no luck'}), say('It failed.')),
  {streamed: true});
shape('tool_raises_beside', () => agent('assistant', {tools: [broken, clock]},
  calls(called('clock', rome), called('broken', {reason: 'no luck'})), say('Half an answer.')));
shape('tool_returns_error', () => agent('assistant', {tools: [refusing]}, call('refusing', {reason: 'closed'}), say('It refused.')));
shape('unknown_tool', () => agent('unknown_tool', {tools: [weather]}, call('no_such_tool', rome), say('Sorry.')), {streamed: true});
shape('unknown_tool_beside', () => agent('assistant', {tools: [weather]},
  calls(called('weather', rome), called('no_such_tool', rome)), say('Half an answer.')));
shape('artifact', () => agent('assistant', {tools: [saveReport]}, call('save_report', {title: 'T'}), say('Saved.')));
shape('asked_twice', () => agent('assistant', {tools: [weather]},
  call('weather', rome), say('Sunny.'), say('Still sunny.', {after: 0.1})), {steps: [text('go'), text('go on')]});
