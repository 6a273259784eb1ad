// Opens the example page in Chromium and prints each of the frames that it shows as a line of JSON until standard input ends.
import { chromium } from 'playwright-core'

const [executablePath, address] = process.argv.slice(2)
const browser = await chromium.launch({
  executablePath,
  args: [
    '--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run',
    '--disable-background-networking', '--disable-component-update', '--disable-sync',
  ],
})
process.stdin.on('end', () => browser.close()).resume()
const page = await browser.newPage()
page.on('console', (message) => console.error(message.text()))
page.on('pageerror', (error) => console.error(error))
await page.exposeFunction('report', (shown) => console.log(shown))
await page.addInitScript(() => {
  new MutationObserver((changes) => {
    for (const { target, addedNodes } of changes) {
      for (const added of addedNodes) if (target.id === 'frames') globalThis.report(added.textContent)
    }
  }).observe(document, { childList: true, subtree: true })
})
await page.goto(address)
