// Sequential, parallel and loop agents, alone and in one another.
import {EXIT_LOOP, FunctionTool, LoopAgent, ParallelAgent, SequentialAgent} from '@google/adk';

import {call, say} from '../scripted.mjs';
import {agent, clock, weather} from './plain.mjs';
import {shape} from './registry.mjs';

export const speaker = (name, after = 0.1, options = {}) => agent(name, options, say(name + ' speaks.', {after}));
export const tooled = (name, tool = weather) =>
  agent(name, {tools: [tool]}, call(tool.name, {city: 'Rome'}, {after: 0.05}), say(name + ' knows.'));

/** Speaks for some rounds and then leaves the loop. */
export const leaver = (name, rounds) => agent(name, {tools: [EXIT_LOOP]},
  ...Array.from({length: rounds - 1}, () => say(name + ' wants more.', {after: 0.05})), call('exit_loop', {}, {after: 0.05}));

const container = (Kind) => (name, ...subAgents) => new Kind({name, description: name, subAgents});
export const sequence = container(SequentialAgent);
export const fan = container(ParallelAgent);
export const loop = (name, maxIterations, ...subAgents) => new LoopAgent({name, description: name, maxIterations, subAgents});

/** Leaves the loop, and lets the model go on. */
const escalate = new FunctionTool({
  name: 'escalate',
  description: 'Leaves the loop.',
  execute: (_, context) => {
    context.actions.escalate = true;
    return {left: true};
  },
});

shape('sequential', () => sequence('sequential', speaker('first', 0.2), speaker('second'), speaker('third')), {streamed: true});
shape('sequential_renamed', () => sequence('pipeline', speaker('first', 0.2), tooled('second')));
shape('parallel', () => fan('fan', speaker('quick', 0.05), speaker('middle', 0.15), speaker('slow', 0.3)), {streamed: true});
shape('parallel_with_tools', () => fan('parallel_with_tools', tooled('left'), tooled('right', clock)), {streamed: true});
shape('loop_exit', () => loop('loop_exit', 5, speaker('writer'), leaver('critic', 3)), {streamed: true});
shape('loop_escalate', () => loop('refine', 5, speaker('writer'),
  agent('critic', {tools: [escalate]}, say('More.'), call('escalate'), say('Good now.'))));
shape('loop_max', () => loop('rounds', 3, speaker('writer'), speaker('critic', 0.05)));
shape('loop_single', () => loop('loop_single', 3, speaker('writer')));
shape('planner_then_parallel', () =>
  sequence('trip', speaker('planner', 0.4), fan('fan', speaker('flights'), speaker('hotels', 0.2))), {streamed: true});
shape('planner_parallel_merger', () => sequence('planner_parallel_merger',
  speaker('planner', 0.4), fan('fan', tooled('flights'), speaker('hotels', 0.2)), speaker('merger')));
shape('parallel_of_sequentials', () => fan('fan',
  sequence('left', speaker('left_a'), speaker('left_b', 0.2)), sequence('right', speaker('right_a', 0.2), speaker('right_b'))));
shape('parallel_in_parallel', () =>
  fan('parallel_in_parallel', fan('inner', speaker('a'), speaker('b', 0.2)), speaker('c', 0.3)));
shape('parallel_twice', () => sequence('rounds',
  fan('fan_one', speaker('a'), speaker('b', 0.15)), fan('fan_two', speaker('c'), speaker('d', 0.15))));
shape('loop_of_parallel', () => loop('rounds', 2, fan('fan', speaker('a'), speaker('b', 0.2))));
shape('loop_of_sequential', () => loop('loop_of_sequential', 2, sequence('step', speaker('writer'), speaker('critic', 0.05))));
shape('sequence_with_loop', () =>
  sequence('story', loop('refine', 5, speaker('writer'), leaver('critic', 2)), speaker('publisher')), {streamed: true});
shape('sequence_in_sequence', () => sequence('sequence_in_sequence',
  speaker('first'), sequence('inner', speaker('second'), speaker('third', 0.2)), speaker('fourth')));
shape('deep_nesting', () => sequence('outer', speaker('planner', 0.2),
  fan('fan', sequence('left', tooled('left_a'), speaker('left_b')), loop('right', 2, speaker('right_a', 0.05))),
  speaker('merger')));
