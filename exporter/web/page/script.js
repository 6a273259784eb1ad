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
  if (old.hasAttribute('data-morph')) return keepPlace(() => morph(old, fresh))
  for (const open of old.querySelectorAll('details[open]')) {
    const same = open.id && fresh.querySelector('#' + CSS.escape(open.id))
    if (same) same.open = true
  }
  if (old.isEqualNode(fresh)) return
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
  const wanted = location.href
  try {
    const answer = await fetch(wanted, { cache: 'no-store', signal: AbortSignal.timeout(30_000) }) // a connection may hang
    const text = await answer.text()
    if (wanted !== location.href) { // the filters have changed since
      again = true
    } else if (answer.ok) {
      const fresh = new DOMParser().parseFromString(text, 'text/html')
      updateChoices(fresh)
      for (const part of document.querySelectorAll('[data-live]')) {
        const next = fresh.getElementById(part.id)
        if (next) replace(part, document.adoptNode(next))
      }
      setStatus('Live', 'on')
    } else if (answer.status === 404) {
      setStatus('This run is no longer stored', 'off')
    } else if (answer.status === 400) {
      setStatus(text.trim(), 'off')
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

// The list

// morph changes a node into another one, so that what stays equal keeps its focus and selection. Children with an id keep their element
// in any order.
function morph(old, fresh) {
  if (old.isEqualNode(fresh)) return
  if (old.nodeType !== Node.ELEMENT_NODE) { old.data = fresh.data; return }
  for (const { name } of [...old.attributes]) {
    if (!fresh.hasAttribute(name) && name !== 'open') old.removeAttribute(name) // the reader opens details
  }
  for (const { name, value } of fresh.attributes) {
    if (old.getAttribute(name) !== value) old.setAttribute(name, value)
  }
  const staying = new Set([...fresh.children].map((child) => child.id))
  const known = new Map()
  for (const child of [...old.children]) {
    if (child.id && !staying.has(child.id)) child.remove()
    else if (child.id) known.set(child.id, child)
  }
  let at = old.firstChild
  for (const child of [...fresh.childNodes]) {
    const same = child.id ? known.get(child.id) : at?.id ? null : at
    if (same?.nodeName !== child.nodeName) { old.insertBefore(child, at); continue }
    if (same === at) at = at.nextSibling
    else old.insertBefore(same, at)
    morph(same, child)
  }
  while (at) {
    const next = at.nextSibling
    at.remove()
    at = next
  }
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
