// Models that fail, and where.
import {call, fail, say, stop} from '../scripted.mjs';
import {fan, sequence, speaker} from './containers.mjs';
import {agent, broken, weather} from './plain.mjs';
import {shape} from './registry.mjs';
import {boss, to} from './transfers.mjs';

const failing = (name, error = 503) => agent(name, {}, fail(error, {after: 0.1}));
const spent = new Error('nothing left');

shape('model_429', () => failing('model_429', 429), {streamed: true});
shape('model_503', () => failing('assistant'));
shape('model_raises', () => failing('model_raises', spent));
shape('model_safety', () => agent('model_safety', {}, stop('SAFETY', {after: 0.1})), {streamed: true});
shape('model_max_tokens', () => agent('assistant', {}, stop('MAX_TOKENS', 'Half ', 'an ans', {after: 0.1})), {streamed: true});
shape('model_breaks_off', () => agent('assistant', {}, fail(new Error('the model hung up'), 'Half ', {after: 0.1})), {streamed: true});
shape('model_empty', () => agent('model_empty', {}, stop('STOP', {after: 0.1})), {streamed: true});
shape('model_fails_after_tool', () => agent('model_fails_after_tool', {tools: [weather]}, call('weather', {city: 'Rome'}), fail(503)),
  {streamed: true});
shape('branch_fails', () =>
  fan('fan', speaker('quick', 0.05), agent('broken_branch', {}, fail(spent, {after: 0.15})), speaker('slow', 0.5)));
shape('branch_fails_after_tool', () => fan('fan', speaker('quick', 0.05),
  agent('broken_branch', {tools: [weather]}, call('weather', {city: 'Rome'}), fail(503)), speaker('slow', 0.5)));
shape('branch_tool_fails', () => fan('fan', speaker('quick', 0.05),
  agent('broken_branch', {tools: [broken]}, call('broken', {reason: 'x'}), say('It failed.')), speaker('slow', 0.5)));
shape('step_fails', () => sequence('pipeline', speaker('first'), failing('second'), speaker('third')));
shape('transfer_then_fails', () => boss('boss', [failing('expert')], to('expert')));
