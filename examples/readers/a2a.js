// A fetchImpl for the JSON-RPC transport of @a2a-js/sdk, which refuses the id null; see docs/reference/events.md.
export const fetchImpl = async (_, { body, signal }) => {
  const answer = await fetch("http://127.0.0.1:10478/events/SESSION?format=a2a", { signal });
  const head = 'data: {"jsonrpc":"2.0","id":', id = JSON.stringify(JSON.parse(body).id);
  let rest = "";
  const transform = (text, out) => {
    const lines = (rest + text).split("\n");
    rest = lines.pop();
    for (const line of lines) out.enqueue(line.replace(head + "null", head + id) + "\n");
  };
  const frames = answer.body.pipeThrough(new TextDecoderStream()).pipeThrough(new TransformStream({ transform }));
  return new Response(frames.pipeThrough(new TextEncoderStream()), answer);
};
