// Reads a stream with the npm package eventsource and prints each frame as a line of JSON until standard input ends. Without
// standard input to wait for, Node would exit while the package waits before it reconnects.
import { EventSource } from 'eventsource'

const [stream, token] = process.argv.slice(2)
const source = new EventSource(stream, {
  fetch: (url, init) => fetch(url, { ...init, headers: { ...init.headers, Authorization: `Bearer ${token}` } }),
})
const tell = (e) => console.log(JSON.stringify({ id: e.lastEventId, event: e.type, data: e.data }))
source.addEventListener('message', tell)
source.addEventListener('delegraph.gap', tell)
source.addEventListener('error', (e) => console.error(e.code, e.message))
process.stdin.on('end', () => source.close()).resume()
