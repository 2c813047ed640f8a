/** npm run console:screenshots [folder]: every page of the console, light and dark, with a broker that has something to show. */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { openBrowser, signIn } from '../test/console/browser.ts'
import { startShowcase } from '../test/console/showcase.ts'

/** Up to what would be answered for each. */
async function askForBatch(page: Page, url: string): Promise<void> {
  await page.goto(`${url}/console/operations?action=provision`)
  await page.getByLabel('Select all that are loaded').check()
  await page.getByRole('button', { name: 'Try again' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Reason').fill('the quota was raised')
  await dialog.getByRole('button', { name: 'Check each of them' }).click()
  await dialog
    .getByText(/may be done/)
    .first()
    .waitFor()
}

const folder = process.argv[2] ?? join('.cache', 'console')
mkdirSync(folder, { recursive: true })
const { url, pages, stop } = await startShowcase()
const browser = await openBrowser()
try {
  for (const [theme, size] of [
    ['light', { width: 1280, height: 860 }],
    ['dark', { width: 1280, height: 860 }],
    ['phone', { width: 390, height: 844 }],
  ] as const) {
    const page = await browser.newPage({ colorScheme: theme === 'dark' ? 'dark' : 'light', viewport: size })
    await signIn(page, url)
    for (const [name, path] of Object.entries(pages)) {
      await page.goto(`${url}/console/${path}`)
      await page.locator('main h1').waitFor()
      await page.waitForTimeout(700)
      await page.screenshot({ path: join(folder, `${name}-${theme}.png`) })
    }
    await askForBatch(page, url)
    await page.screenshot({ path: join(folder, `batch-dialog-${theme}.png`) })
    await page.close()
  }
} finally {
  await browser.close()
  await stop()
}
console.log(`The screenshots are in ${folder}.`)
