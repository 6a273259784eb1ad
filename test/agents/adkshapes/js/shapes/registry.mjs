// The list of shapes: what is served under which name, and what a client says to it.
export const SHAPES = {};

const agents = new Map();

/** Registers a function that builds an agent, a workflow or an App; the name is the app's. Options are steps and streamed. */
export function shape(name, build, {steps = [text('go')], streamed = false} = {}) {
  SHAPES[name] = {name, build, steps, streamed};
}

export const text = (said) => ({text: said});

/** Answers the last open call of a function. */
export const answer = (name, response) => ({answer: name, response});

export function built(name) {
  if (!agents.has(name)) agents.set(name, SHAPES[name].build());
  return agents.get(name);
}
