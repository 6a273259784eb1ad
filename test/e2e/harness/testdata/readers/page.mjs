// Runs commands on a page in Chromium until standard input ends. Each command and each answer is a line of JSON.
import { readFile } from 'node:fs/promises'
import { createInterface } from 'node:readline'
import { chromium } from 'playwright-core'

const [executablePath] = process.argv.slice(2)
const axe = await readFile(new URL('node_modules/axe-core/axe.min.js', import.meta.url), 'utf8')
const browser = await chromium.launch({
  executablePath,
  args: [
    '--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run',
    '--disable-background-networking', '--disable-component-update', '--disable-sync',
  ],
})
let page
let said = []
let requests = []
const deeds = {
  async open({ url, width = 1280, height = 900, dark = false, contrast = 'no-preference', forced = false, script = true }) {
    await page?.context().close()
    said = []
    requests = []
    const context = await browser.newContext({
      viewport: { width, height }, colorScheme: dark ? 'dark' : 'light', javaScriptEnabled: script, reducedMotion: 'reduce',
      contrast, forcedColors: forced ? 'active' : 'none',
    })
    page = await context.newPage()
    page.on('console', (message) => { if (message.type() === 'error' || message.type() === 'warning') said.push(message.text()) })
    page.on('pageerror', (error) => said.push(String(error)))
    page.on('request', (request) => requests.push(request.url()))
    page.on('dialog', (dialog) => { said.push('dialog ' + dialog.message()); dialog.dismiss() })
    return (await page.goto(url)).status()
  },
  async see({ code }) { return page.evaluate(code) },
  // The page's content policy forbids playwright's own way to wait in the page.
  async until({ code }) {
    for (const end = Date.now() + 30_000; Date.now() < end; await new Promise((go) => setTimeout(go, 50))) {
      if (await page.evaluate(code).catch(() => false)) return true
    }
    throw new Error('in vain: ' + code)
  },
  async click({ selector }) { await page.locator(selector).first().click(); await page.waitForLoadState(); return page.url() },
  async choose({ selector, value }) { return page.locator(selector).selectOption(value) },
  async press({ key }) { await page.keyboard.press(key); return true },
  async picture({ path, whole = false }) { await page.screenshot({ path, fullPage: whole }); return true },
  async axe() {
    await page.evaluate(axe)
    const { violations } = await page.evaluate(() => globalThis.axe.run())
    return violations.map((v) => `${v.id}: ${v.help}: ${v.nodes.map((n) => n.html).join(' | ')}`.slice(0, 1000))
  },
  async said() { const all = said; said = []; return all },
  async requests() { return requests },
}
for await (const line of createInterface({ input: process.stdin })) {
  const { deed, ...how } = JSON.parse(line)
  try {
    console.log(JSON.stringify({ answer: await deeds[deed](how) ?? null }))
  } catch (error) {
    console.log(JSON.stringify({ error: String(error).slice(0, 2000) }))
  }
}
await browser.close()
