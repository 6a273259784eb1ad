// Has Grafana's own code transform answers, as it does before a panel draws them. Reads a list of {transformations, frames}, and
// writes for each the fields of what comes out: the name that a panel knows it by, the one that is shown, and the values.
const { createDataFrame, getFieldDisplayName, standardTransformers, standardTransformersRegistry, transformDataFrame } = require('@grafana/data');
const { lastValueFrom } = require('rxjs');

globalThis.window = globalThis; // asks for it in passing, for the name of the page
const known = new Map(Object.values(standardTransformers).map((t) => [t.id, { ...t, transformation: async () => t }]));
standardTransformersRegistry.setInit(() => [...known.values()]);

async function shown({ transformations, frames }) {
  const out = await lastValueFrom(transformDataFrame(transformations, frames.map(createDataFrame), { interpolate: (text) => text }));
  return out.map((frame) => frame.fields.map((field) => ({ name: field.name, shown: getFieldDisplayName(field, frame, out), values: field.values })));
}

const input = [];
process.stdin.on('data', (chunk) => input.push(chunk));
process.stdin.on('end', async () => {
  console.log(JSON.stringify(await Promise.all(JSON.parse(Buffer.concat(input)).map(shown))));
});
