// A client of ADK's dev server for JavaScript, by fetch as its documentation has it: it makes sessions, runs the agent by /run_sse
// and prints what it got, without what differs by chance.
const url = process.argv[2].replace(/\/$/, "");
const chance = new Set(["id", "invocationId", "timestamp", "lastUpdateTime", "longRunningToolIds"]);
const tell = (what, value) => console.log(what, JSON.stringify(value, (key, v) => (chance.has(key) ? undefined : v)));

async function post(path, body) {
  return fetch(url + path, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) });
}

async function* frames(response) {
  let text = "";
  for await (const chunk of response.body.pipeThrough(new TextDecoderStream())) {
    text += chunk;
    for (let end; (end = text.indexOf("\n\n")) >= 0; text = text.slice(end + 2)) yield text.slice(0, end);
  }
  if (text) yield text;
}

const session = `s-${process.pid}`;
for (const script of ["plain", "parallel_tools", "transfer", "long_running", "model_error", "failing_tool"]) {
  for (const streaming of [false, true]) {
    const sessionId = `${session}-${script}-${streaming}`;
    const made = await post(`/apps/coordinator/users/u/sessions/${sessionId}`, {});
    console.log(script, streaming, made.status);
    const run = await post("/run_sse", { appName: "coordinator", userId: "u", sessionId, streaming, newMessage: { role: "user", parts: [{ text: `case:${script}` }] } });
    console.log(run.status, run.headers.get("content-type"));
    for await (const frame of frames(run)) {
      for (const line of frame.split("\n")) line.startsWith("data: ") ? tell("data:", JSON.parse(line.slice(6))) : console.log(line);
    }
  }
}
