import { describe, expect, it, onTestFinished } from 'vitest'
import { createBasicAuthenticator } from '../../src/authenticator/basic.ts'
import { systemClock } from '../../src/clock.ts'
import { createBroker } from '../../src/create-broker.ts'
import { listen } from '../../src/http/node.ts'
import { createMemoryStore } from '../../src/store/memory/index.ts'
import { instanceRow } from '../../src/testing/store-contract/rows.ts'
import { serviceOf } from '../engine/world.ts'
import { newPage, noBrowser, openBrowser, signIn } from './browser.ts'
import { users } from './users.ts'

const many = 10_000

describe.skipIf(noBrowser !== undefined)('10,000 instances', () => {
  it('are scrolled through to the last one, and acted on as all that match', async () => {
    const store = createMemoryStore({ clock: systemClock })
    for (let at = 0; at < many; at += 1) {
      const planId = at % 25 === 0 ? 'plan' : 'other'
      const instance = instanceRow(`i-${at}`, { planId, phase: 'ready', created: true, createdAt: at, updatedAt: at })
      await store.accept({ instanceId: instance.id }, () => ({ answer: undefined, change: { instance } }))
    }
    const broker = createBroker(
      { services: [serviceOf({})] },
      { store, authenticator: createBasicAuthenticator(users), observer: {} },
    )
    onTestFinished(() => broker.close())
    await broker.start()
    const server = await listen({ app: broker.handle, host: '127.0.0.1', port: 0 })
    onTestFinished(() => server.close(0))
    const browser = await openBrowser()
    onTestFinished(() => browser.close())
    const page = await newPage(browser)
    await signIn(page, server.url)
    await page.goto(`${server.url}/console/instances?order=oldest`)
    await page.getByText('i-0', { exact: true }).waitFor()
    let most = 0
    const scroller = page.locator('.scroller')
    const isLast = () => page.getByText(`i-${many - 1}`, { exact: true }).isVisible()
    while (!(await isLast())) {
      most = Math.max(most, await page.locator('.canvas .row').count())
      await scroller.evaluate(element => element.scrollTo(0, element.scrollHeight))
      await page.waitForTimeout(30)
    }
    expect(most).toBeLessThan(80)
    await page.getByText('10,000 rows', { exact: true }).waitFor()
    // And back: nothing is asked for again.
    await scroller.evaluate(element => element.scrollTo(0, 0))
    await page.getByText('i-0', { exact: true }).waitFor()
    expect(await page.locator('.canvas .row').count()).toBeLessThan(80)
    // 400 have this plan, of which 200 are loaded.
    await page.goto(`${server.url}/console/instances?plan_id=plan`)
    await page.getByLabel('Select all that are loaded').check()
    const bar = page.getByRole('region', { name: 'What is selected' })
    await bar.getByText('200 selected').waitFor()
    await bar.getByRole('button', { name: 'All that match' }).click()
    await bar.getByText('All that match, more than 200').waitFor()
    await bar.getByRole('button', { name: 'Abandon' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Reason').fill('their backend is gone')
    await dialog.getByRole('button', { name: 'Check each of them' }).click()
    await dialog.getByText('400 match: 400 may be done, 0 would be refused.').waitFor()
    await dialog.getByText(/These are the first 200 of them/).waitFor()
    await dialog.getByRole('button', { name: 'Abandon: 400' }).click()
    await page.getByText('400 of 400 ended: 400 done, 0 refused.').waitFor()
    await scroller.evaluate(element => element.scrollTo(0, element.scrollHeight))
    await page.getByText('400 rows', { exact: true }).waitFor()
    expect(await page.getByRole('cell', { name: 'waits' }).count()).toBe(0)
    await page.goto(`${server.url}/console/instances?plan_id=plan`)
    await page.getByText('No instance fits').waitFor()
  }, 300_000)
})
