// Runs that end with a question to the user, and the runs that answer it.
import {FunctionTool, LongRunningFunctionTool} from '@google/adk';

import {call, called, calls, say} from '../scripted.mjs';
import {agent, weather} from './plain.mjs';
import {answer, shape, text} from './registry.mjs';
import {boss, to} from './transfers.mjs';

const parameters = (name) => ({type: 'OBJECT', properties: {[name]: {type: 'STRING'}}});

const approve = new LongRunningFunctionTool({
  name: 'approve', description: 'Asks a human.', parameters: parameters('amount'),
  execute: () => ({status: 'pending', ticket: 'approval-1'}),
});
const sign = new LongRunningFunctionTool({
  name: 'sign', description: 'Asks a human to sign.', parameters: parameters('document'), execute: () => undefined,
});
const remove = new FunctionTool({
  name: 'delete', description: 'Deletes a folder.', parameters: parameters('folder'), requireConfirmation: true,
  execute: ({folder}) => ({deleted: folder}),
});

const approver = (name) => agent(name, {tools: [approve]}, call('approve', {amount: '5'}), say('I asked.'), say('Approved: done.'));
const approved = [text('go'), answer('approve', {status: 'approved'})];
const confirmed = (value) => [text('go'), answer('adk_request_confirmation', {confirmed: value})];

shape('long_running', () => approver('long_running'), {steps: approved, streamed: true});
shape('long_running_silent', () => agent('assistant', {tools: [sign]}, call('sign', {document: 'D'}), say('Signed: done.')),
  {steps: [text('go'), answer('sign', {signed: true})]});
shape('long_running_unanswered', () => agent('assistant', {tools: [sign, weather]},
  calls(called('weather', {city: 'Rome'}), called('sign', {document: 'D'})), say('Sunny.')));
shape('long_running_after_transfer', () => boss('boss', [approver('expert')], to('expert'), say('Not asked.')), {steps: approved});
shape('confirmation', () => agent('assistant', {tools: [remove]}, call('delete', {folder: 'tmp'}), say('Deleted.')),
  {steps: confirmed(true), streamed: true});
shape('confirmation_refused', () => agent('confirmation_refused', {tools: [remove]}, call('delete', {folder: 'tmp'}), say('Kept.')),
  {steps: confirmed(false)});
