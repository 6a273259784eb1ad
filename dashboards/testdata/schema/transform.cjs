// Transforms query results with Grafana's own code, as Grafana does before a panel draws them. Reads a list of
// {transformations, frames} and writes the resulting fields: the name that the panel uses, the displayed name, and the values.
const { createDataFrame, getFieldDisplayName, standardTransformers, standardTransformersRegistry, transformDataFrame } = require('@grafana/data');
const { lastValueFrom } = require('rxjs');

globalThis.window = globalThis; // Grafana reads the page's name from it
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
