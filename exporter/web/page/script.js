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

// update makes old equal to fresh, element by element, so that what has not changed keeps its focus, scroll position and selected
// text. Elements with an id are matched by it. What the reader has opened stays open.
function update(old, fresh) {
  if (old.isEqualNode(fresh)) return
  if (old.nodeName !== fresh.nodeName || old.id !== fresh.id) {
    old.replaceWith(fresh)
    return
  }
  if (old.nodeType !== Node.ELEMENT_NODE) {
    old.data = fresh.data
    return
  }
  for (const { name } of [...old.attributes]) if (!fresh.hasAttribute(name) && name !== 'open') old.removeAttribute(name)
  for (const { name, value } of fresh.attributes) if (old.getAttribute(name) !== value) old.setAttribute(name, value)
  updateChildren(old, fresh)
}

function updateChildren(old, fresh) {
  const kept = new Set([...fresh.children].map((child) => child.id))
  for (const child of [...old.children]) if (child.id && !kept.has(child.id)) child.remove()
  const known = new Map([...old.children].filter((child) => child.id).map((child) => [child.id, child]))
  let at = old.firstChild
  for (const child of [...fresh.childNodes]) {
    const same = child.id ? known.get(child.id) : at && !at.id && at.nodeName === child.nodeName ? at : null
    while (same && at !== same && at && !at.id) at = remove(at) // so that what stays need not move
    if (same && same === at) at = at.nextSibling
    else old.insertBefore(same ?? child, at)
    if (same) update(same, child)
  }
  while (at) at = remove(at)
}

// remove removes a node and returns the one after it.
function remove(node) {
  const after = node.nextSibling
  node.remove()
  return after
}

// keepPlace keeps the focus and the selection while an element moves.
function keepPlace(change) {
  const focus = document.activeElement
  const selection = getSelection()
  const { anchorNode, anchorOffset, focusNode, focusOffset, isCollapsed } = selection
  change()
  if (focus?.isConnected && focus !== document.activeElement) focus.focus({ preventScroll: true })
  if (isCollapsed || !anchorNode.isConnected || !focusNode.isConnected) return
  if (selection.anchorNode === anchorNode && selection.focusNode === focusNode) return
  const most = (node) => node.length ?? node.childNodes.length
  selection.setBaseAndExtent(anchorNode, Math.min(anchorOffset, most(anchorNode)), focusNode, Math.min(focusOffset, most(focusNode)))
}

// refresh shows the page as it is now at the current address. Calls during a refresh lead to one more.
function refresh() {
  again = true
  busy ??= (async () => {
    while (again) {
      again = false
      await load()
    }
    busy = null
  })()
  return busy
}

async function load() {
  const wanted = location.href
  try {
    const answer = await fetch(wanted, { cache: 'no-store', signal: AbortSignal.timeout(30_000) }) // a connection may hang
    const text = await answer.text()
    if (wanted !== location.href) { // the filters have changed since
      again = true
    } else if (answer.ok) {
      const fresh = new DOMParser().parseFromString(text, 'text/html')
      updateChoices(fresh)
      keepPlace(() => {
        for (const part of document.querySelectorAll('[data-live]')) {
          const next = fresh.getElementById(part.id)
          if (next) update(part, document.adoptNode(next))
        }
      })
      setStatus('Live', 'on')
    } else if (answer.status === 404) {
      setStatus(document.querySelector('[data-gone]')?.dataset.gone ?? 'This run is no longer stored', 'off')
    } else if (answer.status === 400) {
      setStatus(text.trim(), 'off')
    }
  } catch {
    // The event stream reports when the server is unreachable and when it is back.
  }
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

// The rows of a run open and close in place: a link of a row loads the same page with other details.
const rowLinks = () => [...document.querySelectorAll('#operations a.called')]

async function open(link) {
  const { id } = link
  history.pushState(null, '', link.href)
  await refresh()
  document.getElementById(id)?.focus({ preventScroll: true })
}

addEventListener('popstate', refresh)
addEventListener('click', (event) => {
  const link = event.target.closest?.('#operations a.called, .failures a')
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey || event.button) return
  event.preventDefault()
  open(link).then(() => { if (link.closest('.failures')) document.getElementById('details')?.previousElementSibling.scrollIntoView({ block: 'center' }) })
})
addEventListener('keydown', (event) => {
  const links = rowLinks()
  const at = links.indexOf(document.activeElement)
  const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: links.length - 1 }[event.key]
  const opened = links.find((link) => link.getAttribute('aria-expanded') === 'true')
  if (at >= 0 && links[to]) links[to].focus()
  else if (event.key === 'Escape' && opened) open(opened)
  else return
  event.preventDefault()
})

// A hidden page holds no connection: browsers allow six per server.
document.addEventListener('visibilitychange', listen)
listen()

// The list

// updateChoices offers new agents and sources in the form, except in a field that is in use.
function updateChoices(fresh) {
  for (const field of document.querySelectorAll('#filter select')) {
    const next = fresh.querySelector(`#filter select[name="${field.name}"]`)
    if (!next || field === document.activeElement || field.isEqualNode(next)) continue
    const { value } = field
    field.replaceChildren(...next.children)
    field.value = value
  }
}

// applyFilters shows the runs that the form selects, under a URL that can be shared.
function applyFilters() {
  const url = new URL(location.href)
  url.search = new URLSearchParams([...new FormData(filter)].filter(([, value]) => value.trim())).toString()
  if (url.href === location.href) return
  history.replaceState(history.state, '', url)
  refresh()
}

const filter = document.getElementById('filter')
if (filter) {
  let pause
  filter.querySelector('button').hidden = true
  filter.addEventListener('submit', (event) => { event.preventDefault(); applyFilters() })
  filter.addEventListener('change', applyFilters)
  filter.addEventListener('input', (event) => {
    clearTimeout(pause)
    if (event.target.matches('[type=search]')) pause = setTimeout(applyFilters, 150)
  })
  setInterval(() => { if (!document.hidden) refresh() }, 15_000) // times pass without events too
}
