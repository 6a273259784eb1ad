// What models answer with, and how agents are asked.
import {LlmAgent, UnsafeLocalCodeExecutor} from '@google/adk';

import {call, model, parts, say, think} from '../scripted.mjs';
import {sequence, speaker} from './containers.mjs';
import {agent, weather} from './plain.mjs';
import {shape} from './registry.mjs';

const city = {type: 'OBJECT', properties: {name: {type: 'STRING'}, people: {type: 'INTEGER'}}, required: ['name', 'people']};

shape('no_usage', () => agent('assistant', {}, say('Free of charge.', {usage: false, finish: undefined, after: 0.1})));
shape('thoughts', () => agent('thoughts', {}, think('Let me think. ', 'Done thinking.', {after: 0.1})), {streamed: true});
shape('thoughts_and_tool', () => {
  const turn = think('I need the weather. ', 'One moment.');
  turn.chunks.push(call('weather', {city: 'Rome'}).chunks[0]);
  return agent('assistant', {tools: [weather]}, turn, think('Now I know. ', 'Sunny.'));
}, {streamed: true});
shape('code_executed', () => new LlmAgent({
  name: 'coder', codeExecutor: new UnsafeLocalCodeExecutor(),
  model: model(say('Let me compute:\n```javascript\nconsole.log(6 * 7)\n```', {after: 0.1}), say('It is 42.')),
}));
shape('code_by_model', () => agent('code_by_model', {}, parts([
  {text: 'Let me compute. '},
  {executableCode: {code: 'print(6 * 7)', language: 'PYTHON'}},
  {codeExecutionResult: {outcome: 'OUTCOME_OK', output: '42\n'}},
  {text: 'It is 42.'},
], {after: 0.1})), {streamed: true});
shape('output_schema', () => agent('output_schema', {outputSchema: city, outputKey: 'city'},
  say('{"name": "Rome", ', '"people": 2800000}', {after: 0.1})), {streamed: true});
shape('output_schema_with_tools', () => agent('assistant', {outputSchema: city, tools: [weather]},
  call('weather', {city: 'Rome'}), call('set_model_response', {name: 'Rome', people: 2800000}), say('Not needed.')));
shape('instruction_state', () => sequence('instruction_state',
  speaker('first', 0.1, {outputKey: 'topic'}), speaker('second', 0.1, {instruction: 'Write about {topic}.'})));
