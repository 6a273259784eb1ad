// Takes a picture of a page in Chromium once it shows all of the given texts, and after a click on the last one: picture.mjs CHROMIUM URL FILE TEXT...
import { chromium } from 'playwright-core'

const [executablePath, url, path, ...texts] = process.argv.slice(2)
const browser = await chromium.launch({ executablePath, args: ['--headless', '--no-sandbox', '--disable-gpu'] })
try {
  const page = await browser.newPage({ viewport: { width: 1400, height: 720 }, reducedMotion: 'reduce' })
  await page.goto(url)
  for (const text of texts) await page.getByText(text).first().waitFor({ timeout: 60_000 })
  await page.getByText(texts.at(-1)).first().click()
  await page.waitForTimeout(3_000) // until the details are drawn
  await page.screenshot({ path })
} finally {
  await browser.close()
}
