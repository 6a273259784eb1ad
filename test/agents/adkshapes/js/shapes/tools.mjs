// Agents behind tools.
import {AgentTool} from '@google/adk';

import {call, called, calls, fail, say} from '../scripted.mjs';
import {fan, sequence, speaker} from './containers.mjs';
import {agent, weather} from './plain.mjs';
import {shape} from './registry.mjs';

const summarizer = (name = 'summarizer') => agent(name, {}, say('Short.', {after: 0.2}));
const asTool = (of) => new AgentTool({agent: of});
const ask = (name) => call(name, {request: 'x'});

shape('agent_tool', () => agent('agent_tool', {tools: [asTool(summarizer())]}, ask('summarizer'), say('Done: short.')),
  {streamed: true});
shape('agent_tool_with_tool', () => {
  const expert = agent('expert', {tools: [weather]}, call('weather', {city: 'Rome'}), say('Sunny.'));
  return agent('boss', {tools: [asTool(expert)]}, ask('expert'), say('The expert says sunny.'));
});
shape('agent_tool_sequential', () => agent('boss', {tools: [asTool(sequence('team', speaker('drafter'), speaker('editor')))]},
  ask('team'), say('The team is done.')));
shape('agent_tools_parallel', () => agent('agent_tools_parallel', {tools: [asTool(summarizer()), asTool(summarizer('titler'))]},
  calls(called('summarizer', {request: 'a'}), called('titler', {request: 'b'})), say('Both done.')));
shape('agent_tool_twice', () => agent('agent_tool_twice', {tools: [asTool(summarizer())]},
  ask('summarizer'), ask('summarizer'), say('Done twice.')));
shape('agent_tool_fails', () => agent('boss', {tools: [asTool(agent('expert', {}, fail(503, {after: 0.1})))]},
  ask('expert'), say('No expert.')));
shape('agent_tool_in_branches', () => {
  const branch = (name) => agent(name, {tools: [asTool(summarizer(name + '_summarizer'))]}, ask(name + '_summarizer'), say('Done.'));
  return fan('fan', branch('left'), branch('right'));
});
