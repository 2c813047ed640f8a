/** Sign-in on the page of a real OpenID provider, in a real browser. */
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startWithProvider } from '../sign-in/openid-broker.ts'
import { noBrowser, openBrowser } from './browser.ts'

describe.skipIf(noBrowser !== undefined)('the button of the console', () => {
  let browser: Browser
  beforeAll(async () => {
    browser = await openBrowser()
  })
  afterAll(() => browser?.close())

  it('leads to the provider and back into the console, and signing out ends the session', async () => {
    const { publicUrl, label } = await startWithProvider()
    const page = await browser.newPage()
    page.setDefaultTimeout(60_000)
    const problems: string[] = []
    page.on('pageerror', error => problems.push(error.message))
    await page.goto(`${publicUrl}/console/`)
    await page.getByRole('link', { name: label }).click()
    await page.locator('input[name=login]').fill('ada')
    await page.locator('input[name=password]').fill('any')
    await page.locator('button[type=submit]').click()
    await page.locator('button[type=submit]', { hasText: 'Continue' }).click()
    await page.waitForURL(`${publicUrl}/console/**`)
    await page.getByRole('heading', { level: 1 }).waitFor()
    const [cookie] = (await page.context().cookies(publicUrl)).filter(({ name }) => name === 'purser')
    expect(cookie).toMatchObject({ httpOnly: true, sameSite: 'Strict' })
    const headers = { cookie: `purser=${cookie?.value}` }
    expect(await (await fetch(`${publicUrl}/admin/me`, { headers })).json()).toMatchObject({ name: 'example:ada' })
    await page.evaluate(() => fetch('../admin/session', { method: 'DELETE' }))
    expect((await fetch(`${publicUrl}/admin/me`, { headers })).status).toBe(401)
    expect(problems).toEqual([])
  })

  it('says so where the provider, or the broker, lets nobody in', async () => {
    const { publicUrl, label } = await startWithProvider()
    const page = await browser.newPage()
    page.setDefaultTimeout(60_000)
    await page.goto(`${publicUrl}/console/?sign-in=refused`)
    expect(await page.getByRole('alert').textContent()).toContain('The sign-in was refused.')
    expect(await page.getByRole('link', { name: label }).getAttribute('href')).toBe(`${publicUrl}/console/sign-in`)
  })
})
