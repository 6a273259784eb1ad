// Callbacks that answer in an agent's, a model's or a tool's place.
import {call, say} from '../scripted.mjs';
import {sequence, speaker} from './containers.mjs';
import {agent, weather} from './plain.mjs';
import {shape} from './registry.mjs';

const content = (said) => ({role: 'model', parts: [{text: said}]});

shape('before_agent_skips', () => sequence('pipeline',
  speaker('skipped', 0.1, {beforeAgentCallback: () => content('Skipped.')}), speaker('second')));
shape('before_agent_skips_root', () =>
  speaker('before_agent_skips_root', 0.1, {beforeAgentCallback: () => content('Skipped.')}));
shape('after_agent_adds', () => sequence('pipeline',
  speaker('first', 0.1, {afterAgentCallback: () => content('And more.')}), speaker('second')));
shape('before_model_answers', () =>
  speaker('before_model_answers', 0.1, {beforeModelCallback: () => ({content: content('Cached.')})}));
shape('after_model_replaces', () =>
  speaker('assistant', 0.1, {afterModelCallback: () => ({content: content('Censored.')})}), {streamed: true});
shape('before_tool_answers', () => agent('before_tool_answers', {tools: [weather], beforeToolCallback: () => ({cached: true})},
  call('weather', {city: 'Rome'}), say('Cached weather.')));
