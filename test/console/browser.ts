import { existsSync } from 'node:fs'
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

export async function signIn(page: Page, url: string, { username, password } = operator): Promise<void> {
  await page.goto(`${url}/console/`)
  await page.getByLabel('User', { exact: true }).fill(username)
  await page.getByLabel('Password').fill(password)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('heading', { level: 1 }).waitFor()
}
