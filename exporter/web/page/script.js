'use strict'
// Keeps the page up to date: on each event it fetches the page again and replaces what has changed.
// Without this script, the page shows the same content but does not update.
const address = document.currentScript.dataset.events
const live = document.getElementById('live')
let source, busy, again

function setStatus(text, state) {
  if (live.textContent === text) return
  live.textContent = text
  live.className = state
  live.hidden = false
}

// replace puts fresh in the place of old, and preserves the reader's open details, focus and scroll
// position. Equal nodes are not touched.
function replace(old, fresh) {
  for (const open of old.querySelectorAll('details[open]')) {
    const same = open.id && fresh.querySelector('#' + CSS.escape(open.id))
    if (same) same.open = true
  }
  if (old.isEqualNode(fresh)) return
  if (old.hasAttribute('data-keyed') && fresh.hasAttribute('data-keyed')) {
    const known = new Map([...old.children].map((child) => [child.id, child]))
    for (const [i, child] of [...fresh.children].entries()) {
      const mine = known.get(child.id)
      known.delete(child.id)
      if (mine) replace(mine, child)
      const now = mine && mine.parentNode === old ? mine : child
      if (old.children[i] !== now) old.insertBefore(now, old.children[i] ?? null)
    }
    for (const gone of known.values()) gone.remove()
    return
  }
  const focus = old.contains(document.activeElement) && document.activeElement
  const scrolled = [...old.querySelectorAll('.scroll')].map((region) => region.scrollLeft)
  old.replaceWith(fresh)
  fresh.querySelectorAll('.scroll').forEach((region, i) => { region.scrollLeft = scrolled[i] ?? 0 })
  if (!focus) return
  const href = focus.getAttribute('href')
  const next = href !== null ? fresh.querySelector(`a[href="${CSS.escape(href)}"]`) : fresh.querySelector('summary, .scroll')
  if (next) next.focus({ preventScroll: true })
}

async function refresh() {
  if (busy) { again = true; return }
  busy = true
  try {
    const answer = await fetch(location.href, { cache: 'no-store', signal: AbortSignal.timeout(30_000) }) // a connection may hang
    if (answer.ok) {
      const fresh = new DOMParser().parseFromString(await answer.text(), 'text/html')
      for (const part of document.querySelectorAll('[data-live]')) {
        const next = fresh.getElementById(part.id)
        if (next) replace(part, document.adoptNode(next))
      }
      setStatus('Live', 'on')
    } else if (answer.status === 404) {
      setStatus(document.querySelector('[data-gone]')?.dataset.gone ?? 'This run is no longer stored', 'off')
    }
  } catch {
    // The event stream reports when the server is unreachable and when it is back.
  }
  busy = false
  if (again) { again = false; refresh() }
}

function listen() {
  source?.close()
  if (document.hidden) return
  source = new EventSource(address)
  source.addEventListener('runs', refresh)
  source.addEventListener('error', () => {
    setStatus('Disconnected, retrying', 'off')
    if (source.readyState === EventSource.CLOSED) setTimeout(listen, 5000)
  })
}

// A hidden page holds no connection: browsers allow six per server.
document.addEventListener('visibilitychange', listen)
listen()
