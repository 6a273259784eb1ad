// Workflows: functions, agents, fan-out and nesting.
import {setTimeout as sleep} from 'node:timers/promises';

import {JoinNode, Workflow, node} from '@google/adk';

import {fail, say} from '../scripted.mjs';
import {speaker, tooled} from './containers.mjs';
import {agent} from './plain.mjs';
import {shape} from './registry.mjs';
import {boss, to} from './transfers.mjs';

const workflow = (name, ...edges) => new Workflow({name, edges});

/** A function that takes as long as a model and has an output. */
const func = (name, seconds = 0.1) => node(async () => {
  await sleep(1000 * seconds);
  return name + ' is done';
}, {name});

const raising = () => node(async () => {
  await sleep(100);
  throw new TypeError('the node failed');
}, {name: 'raising'});

shape('workflow_functions', () => workflow('graph', ['START', func('fetch', 0.2), func('store')]));
shape('workflow_agents', () => workflow('workflow_agents', ['START', speaker('writer'), tooled('checker')]), {streamed: true});
shape('workflow_mixed', () => workflow('graph', ['START', func('fetch'), speaker('writer', 0.2), func('store')]));
shape('workflow_fan_out', () => {
  const join = new JoinNode({name: 'join'});
  return workflow('graph', ['START', [speaker('left'), tooled('right')], join, speaker('merger')]);
});
shape('workflow_nested', () => workflow('outer',
  ['START', speaker('first'), workflow('inner', ['START', func('dig'), speaker('second')]), speaker('third')]));
shape('workflow_raises', () => workflow('graph', ['START', speaker('writer'), raising(), func('never')]));
shape('workflow_branch_fails', () => workflow('graph',
  ['START', [speaker('quick', 0.05), agent('failing', {}, fail(503, {after: 0.15})), speaker('slow', 0.5)]]));
shape('workflow_transfer_back', () => workflow('graph',
  ['START', boss('lead', [boss('expert', [], to('lead'))], to('expert'), say('Back.')), speaker('other')]));
