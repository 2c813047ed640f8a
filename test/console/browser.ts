import { existsSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { type Browser, chromium, type Page } from 'playwright-core'
import { operator } from './users.ts'
import './built.ts'

/** Of the system: nothing is downloaded. */
const places = [
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/usr/bin/google-chrome-stable',
]

export const chromiumPath = process.env.CHROMIUM ?? places.find(place => existsSync(place))

/** Why the suites that need a browser are left out; undefined where they are not. Named and missing is a failure. */
export const noBrowser =
  chromiumPath === undefined && !(process.env.BROWSER_TESTS ?? '').split(',').includes('chromium')
    ? 'there is no Chromium: install it, or name it in CHROMIUM'
    : undefined

export async function openBrowser(): Promise<Browser> {
  if (chromiumPath === undefined) throw new Error('There is no Chromium: install it, or name it in CHROMIUM.')
  return chromium.launch({ executablePath: chromiumPath, args: ['--no-sandbox', '--disable-dev-shm-usage'] })
}

/** Generous: on a loaded machine everything may take long, and nothing depends on it. */
const patience = 120_000

export async function newPage(browser: Browser, options: Parameters<Browser['newPage']>[0] = {}): Promise<Page> {
  const page = await browser.newPage(options)
  page.setDefaultTimeout(patience)
  return page
}

/** Waits for it, and says what did not become true where it never does. */
export async function until(what: string, condition: () => Promise<boolean>): Promise<void> {
  const end = Date.now() + patience
  while (!(await condition())) {
    if (Date.now() > end) throw new Error(`It never became true that ${what}.`)
    await pause(50)
  }
}

export async function signIn(page: Page, url: string, { username, password } = operator): Promise<void> {
  await page.goto(`${url}/console/`)
  await page.getByLabel('User', { exact: true }).fill(username)
  await page.getByLabel('Password').fill(password)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('heading', { level: 1 }).waitFor()
}
