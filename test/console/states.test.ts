/** What pages say where there is nothing, where the broker does not answer, and where somebody has to look. */
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { createMemoryStore } from '../../src/store/memory/index.ts'
import { provision } from '../../src/testing/store-contract/rows.ts'
import { startTestBrokerWith, type TestBrokerOptions } from '../../src/testing/test-broker.ts'
import { createVirtualClock } from '../../src/testing/virtual-clock.ts'
import { serviceOf } from '../engine/world.ts'
import { newPage, noBrowser, openBrowser, until } from './browser.ts'

const hour = 3_600_000
const day = 24 * hour

describe.skipIf(noBrowser !== undefined)('a page', () => {
  let browser: Browser
  beforeAll(async () => {
    browser = await openBrowser()
  })
  afterAll(() => browser?.close())

  /** A broker that lets everybody in, whose time is yesterday's and stands still until the test moves it. */
  async function open(options: Partial<TestBrokerOptions> = {}, concurrency?: number) {
    const clock = options.clock ?? createVirtualClock(Date.now() - day)
    const broker = await startTestBrokerWith(
      { services: [serviceOf({})], transport: 'socket', observer: {}, ...options, clock },
      concurrency === undefined ? {} : { concurrency },
    )
    onTestFinished(() => broker.stop())
    const page = await newPage(browser)
    onTestFinished(() => page.close())
    const go = async (path: string) => {
      await page.goto(`${broker.url}/console/${path}`)
      await page.locator('main h1').waitFor()
    }
    return { ...broker, clock, page, go }
  }

  /** The numbers come from a chore: time has to pass for it. */
  async function count(page: Page, advance: () => Promise<void>) {
    await until('the numbers are there', async () => {
      await advance()
      return (await page.locator('.numbers').count()) === 1
    })
  }

  it('that has nothing to show says so, and what to do', async () => {
    const { page, go, clock } = await open()
    await go('')
    await count(page, () => clock.advance(100))
    await page.getByText('Nothing needs you').waitFor()
    for (const [path, words, link] of [
      ['operations', 'No operation fits', 'provision something'],
      ['instances', 'No instance fits', 'provision something'],
      ['batches', 'Nobody has begun a batch', 'Operations'],
      ['history', 'Nobody has done anything by hand', undefined],
      ['upkeep', 'No registry is configured', undefined],
      ['gates', 'All gates are open', undefined],
      ['sessions', 'Nobody is signed in', undefined],
      ['catalog', 'No service comes from a registry', undefined],
      ['try/unknown', 'Nothing of this id is offered', 'See what is'],
      ['nowhere', 'There is no such page', 'Go to what needs attention'],
    ] as const) {
      await page.goto(`${new URL(page.url()).origin}/console/${path}`)
      await page.getByText(words).waitFor()
      if (link !== undefined) await page.locator('main').getByRole('link', { name: link }).first().waitFor()
    }
    await go('instances')
    await page.goto(`${new URL(page.url()).origin}/console/instances/unknown`)
    await page.getByText(/There is no instance with this id/).waitFor()
  })

  it('goes on by itself when the broker answers again', async () => {
    const { page, url } = await open()
    const refuse = (path: string) => page.route(`**/${path}`, route => route.abort())
    await refuse('admin/session')
    await page.goto(`${url}/console/try`)
    await page.getByText('The broker does not answer. This page asks again by itself.').waitFor()
    await refuse('admin/catalog')
    await page.unroute('**/admin/session')
    // Now it knows who this is, and not what is offered.
    await page.locator('main h1', { hasText: 'Try it' }).waitFor()
    await page.getByText('The broker does not answer. This page asks again by itself.').waitFor()
    await page.unroute('**/admin/catalog')
    await page.getByRole('link', { name: 'service', exact: true }).waitFor()
    expect(await page.locator('.problem-box').count()).toBe(0)
  })

  it('of a list goes on where the broker has looked at enough rows for one page', async () => {
    const clock = createVirtualClock(Date.now() - day)
    const store = createMemoryStore({ clock })
    for (let at = 0; at < 12; at += 1)
      await provision(store, `i${at}`, { acceptedAt: at, notBefore: clock.now() + day })
    // As a database that looks at two rows for each page.
    const few = { ...store, listInstances: (query = {}) => store.listInstances({ ...query, examine: 2 }) }
    const { page, go } = await open({ store: few, clock })
    const cursors: string[] = []
    page.on('request', request => {
      const { pathname, searchParams } = new URL(request.url())
      if (pathname.endsWith('/admin/instances')) cursors.push(searchParams.get('cursor') ?? '')
    })
    await go('instances?platform=nobody')
    await page.getByText('No instance fits').waitFor()
    expect(new Set(cursors).size).toBeGreaterThanOrEqual(6)
    await go('instances?order=oldest')
    await page.getByText('12 rows', { exact: true }).waitFor()
  })

  it('without registries has nothing to sync', async () => {
    const { page, go } = await open()
    await go('upkeep')
    await page.getByText('No registry is configured').waitFor()
    expect(await page.getByRole('button', { name: 'Sync now' }).count()).toBe(0)
  })

  it('whose address cannot be decoded says that there is nothing', async () => {
    const { page, url } = await open()
    await page.goto(`${url}/console/operations/%zz`)
    await page.getByText('There is no operation "%zz"').waitFor()
  })

  it('that is the home page names what is past its deadline, and a chore that nobody takes', async () => {
    const clock = createVirtualClock(Date.now() - day)
    const store = createMemoryStore({ clock })
    const faulty = { ...store, takeChore: neverTaken('purge', store.takeChore.bind(store)) }
    await provision(store, 'forgotten', { acceptedAt: clock.now(), deadlineAt: clock.now() + hour })
    // No worker: nobody ends it.
    const { page, go } = await open({ store: faulty, clock, settings: { chores: { purge: '0 * * * *' } } }, 0)
    await clock.advance(5 * hour)
    await go('')
    await count(page, () => clock.advance(60_000))
    await page.getByRole('link', { name: 'provision of forgotten' }).waitFor()
    await page.getByRole('region', { name: 'Chores that are late or failed' }).getByText('purge').waitFor()
    await page.getByText(/no replica has taken it for three periods/).waitFor()
  })

  it('with a timeline folds equal retries, and draws shorter what was only waited for', async () => {
    let failures = 7
    const service = serviceOf({
      async provision(ctx) {
        await ctx.step('reserve', async () => {})
        await ctx.step('create the server', async () => {
          failures -= 1
          if (failures >= 0) throw new Error('connect ECONNREFUSED 10.0.0.1:5432')
        })
        await ctx.step('first backup', async () => {})
      },
    })
    const { page, go, client, clock, url } = await open({
      services: [service],
      random: () => 0.999,
      settings: { osb: { requireOrgAndSpace: false } },
    })
    const ids = { service_id: 'service', plan_id: 'plan' }
    expect((await client.provision('folded', ids, { acceptsIncomplete: true })).status).toBe(202)
    await clock.advance(hour)
    const { items } = (await (await fetch(`${url}/admin/operations`)).json()) as { items: { id: string }[] }
    await go(`operations/${items[0]?.id}`)
    await page.getByText(/Succeeded after/).waitFor()
    expect(await page.locator('.tl-track .bar.failed').count()).toBe(1)
    expect(await page.locator('.bar .times').textContent()).toBe('×7')
    await page.locator('.tl-axis .gap').first().waitFor()
    expect(await page.locator('.tl-track .bar.wait').count()).toBeGreaterThan(0)
    await page.getByText('As a table: 10 attempts').click()
    expect(await page.getByRole('cell', { name: /^failed: connect ECONNREFUSED/ }).count()).toBe(7)
    await page.getByLabel('Only steps that failed').check()
    expect(await page.locator('.tl-label').allInnerTexts()).toEqual(['create the server'])
  })

  it('that nobody sees keeps no connection open, and has one again when it is looked at', async () => {
    const { page, go } = await open()
    const streams: string[] = []
    page.on('request', request => {
      if (request.url().endsWith('/admin/events')) streams.push('opened')
    })
    page.on('requestfailed', request => {
      if (request.url().endsWith('/admin/events')) streams.push('closed')
    })
    await go('operations')
    await until('it listens', async () => streams.length === 1)
    const turn = (state: string) =>
      page.evaluate(`Object.defineProperty(document, 'visibilityState', { value: '${state}', configurable: true });
        document.dispatchEvent(new Event('visibilitychange'))`)
    await turn('hidden')
    await until('it has let go', async () => streams.length === 2)
    await turn('visible')
    await until('it listens again', async () => streams.length === 3)
    expect(streams).toEqual(['opened', 'closed', 'opened'])
  })
})

type Take = ReturnType<typeof createMemoryStore>['takeChore']

function neverTaken(chore: string, take: Take): Take {
  return wanted => (wanted.name === chore ? Promise.resolve(undefined) : take(wanted))
}
