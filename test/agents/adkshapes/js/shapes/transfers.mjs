// Control that is handed on by transfer_to_agent.
import {FunctionTool} from '@google/adk';

import {call, called, calls, say} from '../scripted.mjs';
import {fan, leaver, loop, sequence, speaker, tooled} from './containers.mjs';
import {agent, weather} from './plain.mjs';
import {shape, text} from './registry.mjs';

const expert = () => speaker('expert', 0.2);

export const to = (agentName, after = 0.1) => call('transfer_to_agent', {agentName}, {after});

/** Transfers on its first turn and has the given sub-agents. */
export const boss = (name, subAgents, ...turns) => agent(name, {subAgents}, ...turns);

/** Hands the control on by itself. */
const handOver = new FunctionTool({
  name: 'hand_over',
  description: 'Hands over.',
  execute: (_, context) => {
    context.actions.transferToAgent = 'expert';
    return {handed: true};
  },
});

const back = say('I am back.', {after: 0.2});

shape('transfer', () => boss('boss', [tooled('expert')], to('expert')), {streamed: true});
shape('transfer_same_name', () => boss('transfer_same_name', [tooled('expert')], to('expert')));
shape('transfer_twice', () => boss('transfer_twice', [boss('clerk', [expert()], to('expert'))], to('clerk')), {streamed: true});
shape('transfer_back', () => boss('boss', [boss('expert', [], to('boss'))], to('expert'), back), {streamed: true});
shape('transfer_back_and_down', () =>
  boss('boss', [boss('expert', [], to('boss'), say('Second visit.'))], to('expert'), to('expert')));
shape('transfer_to_peer', () =>
  boss('transfer_to_peer', [boss('one', [], to('two')), speaker('two', 0.2)], to('one')), {streamed: true});
shape('transfer_after_tool', () =>
  agent('boss', {tools: [weather], subAgents: [expert()]}, call('weather', {city: 'Rome'}), to('expert')), {streamed: true});
shape('transfer_beside_tool', () => agent('boss', {tools: [weather], subAgents: [expert()]},
  calls(called('weather', {city: 'Rome'}), called('transfer_to_agent', {agentName: 'expert'}))));
shape('transfer_by_tool', () => agent('boss', {tools: [handOver], subAgents: [expert()]}, call('hand_over')));
shape('transfer_to_sequence', () =>
  boss('transfer_to_sequence', [sequence('team', speaker('first'), speaker('second', 0.2))], to('team')), {streamed: true});
shape('transfer_to_parallel', () =>
  boss('boss', [fan('fan', speaker('left'), speaker('right', 0.2))], to('fan')), {streamed: true});
shape('transfer_to_loop', () => boss('boss', [loop('refine', 4, speaker('writer'), leaver('critic', 2))], to('refine')));
shape('transfer_to_parallel_merger', () =>
  boss('boss', [sequence('team', fan('fan', speaker('left'), tooled('right')), speaker('merger'))], to('team')), {streamed: true});
shape('transfer_in_sequence', () => sequence('pipeline', boss('lead', [expert()], to('expert')), speaker('closer')),
  {streamed: true});
shape('transfer_in_loop', () => loop('rounds', 2, boss('lead', [expert()], to('expert'), to('expert'))));
shape('transfer_in_parallel', () => fan('transfer_in_parallel', boss('lead', [expert()], to('expert')), speaker('other')));
shape('transfer_in_parallel_back', () =>
  fan('fan', boss('lead', [boss('expert', [], to('lead'))], to('expert'), say('Back.')), speaker('other')));
shape('transfer_to_unknown', () => boss('boss', [expert()], to('nobody'), say('No such agent.')));
shape('transfer_asked_again', () => boss('boss',
  [agent('expert', {}, say('First answer.'), say('Second answer.'))], to('expert'), say('Not asked.')),
  {steps: [text('go'), text('and now?')]});
