/** The console in a real browser, before real replicas and a real database. */
import axe from 'axe-core'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type PostgresServer, startPostgres, whyNoPostgres } from '../external/postgres.ts'
import { noBrowser, openBrowser, newPage as openPage, signIn, until } from './browser.ts'
import { makeFolder, provision, type Replica, send, startReplica, stateOf } from './replicas.ts'
import { viewer } from './users.ts'

const missing = noBrowser ?? (await whyNoPostgres())

describe.skipIf(missing !== undefined)('the console', () => {
  const { folder, mend, unmend, publish, silence, answer, remove } = makeFolder()
  let browser: Browser
  let postgres: PostgresServer
  let replica: Replica
  let page: Page
  const problems: string[] = []

  beforeAll(async () => {
    postgres = await startPostgres()
    replica = await startReplica(postgres.url, folder)
    browser = await openBrowser()
    page = await newPage()
    await signIn(page, replica.url)
  })

  afterAll(async () => {
    await browser?.close()
    await replica?.stop()
    await postgres?.stop()
    remove()
  })

  /** What breaks the policy of the page, or is thrown in it, is a failure. */
  async function newPage(options: Parameters<Browser['newPage']>[0] = {}): Promise<Page> {
    const opened = await openPage(browser, options)
    opened.on('pageerror', error => problems.push(error.message))
    opened.on('console', message => {
      if (/Content Security Policy|Trusted/i.test(message.text())) problems.push(message.text())
    })
    opened.on('request', request => {
      if (!request.url().startsWith('http://127.0.0.1:')) problems.push(`asked ${request.url()}`)
    })
    return opened
  }

  const go = async (path: string, on = page) => {
    await on.goto(`${replica.url}/console/${path}`)
    await on.locator('main h1').waitFor()
  }
  const press = (name: string, on = page) => on.getByRole('button', { name, exact: true }).click()
  const shown = (text: string | RegExp, on = page) => on.getByText(text).first().waitFor()
  const giveReason = async (verb: string, reason: string) => {
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel(/^Reason/).fill(reason)
    await dialog.getByRole('button', { name: verb, exact: true }).click()
    await dialog.waitFor({ state: 'hidden' })
  }

  it('refuses a wrong password in words, and asks for none by the browser’s own dialog', async () => {
    const other = await newPage()
    await other.goto(`${replica.url}/console/`)
    await other.getByLabel('User', { exact: true }).fill('ada')
    await other.getByLabel('Password').fill('wrong')
    await press('Sign in', other)
    await shown('The user or the password is wrong.', other)
    await other.close()
  })

  it('provisions by a form, and shows its steps as they are done', async () => {
    await go('try')
    await page.getByRole('link', { name: 'Database', exact: true }).click()
    await page.getByLabel('Id', { exact: true }).fill('by-form')
    const submit = page.getByRole('button', { name: 'Provision' })
    expect(await submit.isDisabled()).toBe(true)
    await page.getByLabel('Name *').fill('orders')
    await page.getByLabel('region').selectOption('us-east')
    await page.getByLabel('Storage in GB').fill('40')
    await page.getByRole('button', { name: 'Add to Users' }).click()
    await page.getByLabel('Users 1').fill('grace')
    await page.getByLabel('Kind').selectOption('Public')
    await page.getByRole('tab', { name: 'JSON' }).click()
    const json = JSON.parse(await page.getByLabel('Parameters as JSON').inputValue())
    expect(json).toMatchObject({ name: 'orders', region: 'us-east', storage: 40, backups: true, users: ['grace'] })
    await submit.click()
    await page.waitForURL(/operations\//)
    await shown(/Succeeded after/)
    for (const step of ['reserve quota', 'create volume', 'start server', 'create database', 'first backup'])
      expect(await page.locator('.tl-label', { hasText: step }).count()).toBe(1)
    expect(await page.locator('.tl-track .bar.done').count()).toBe(5)
  })

  it('binds, and shows the credentials once, on purpose', async () => {
    await go('instances/by-form')
    await press('Bind')
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Id of the binding').fill('app')
    await dialog.getByRole('button', { name: 'Bind', exact: true }).click()
    await dialog.waitFor({ state: 'hidden' })
    await until('there are credentials', () => page.getByRole('button', { name: 'Credentials' }).isEnabled())
    expect(await page.content()).not.toContain('canary-s3cret')
    await press('Credentials')
    expect(await page.content()).not.toContain('canary-s3cret')
    await press('Show the credentials')
    await page.getByRole('dialog').getByText('canary-s3cret').waitFor()
    await page.getByRole('button', { name: 'Copy password' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Close' }).click()
    await until('they are gone', async () => !(await page.content()).includes('canary-s3cret'))
    await press('Unbind')
    await page.getByRole('dialog').getByRole('button', { name: 'Unbind', exact: true }).click()
    await shown('It has no bindings')
  })

  it('updates the plan of an instance', async () => {
    await press('Update')
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Plan').selectOption('database-large')
    await dialog.getByRole('button', { name: 'Update', exact: true }).click()
    await until('it has the other plan', async () => {
      const { plan_id } = await send<{ plan_id: string }>(replica.url, 'GET', '/admin/instances/by-form')
      return plan_id === 'database-large'
    })
    await page.locator('.crumb', { hasText: 'large' }).waitFor()
  })

  it('watches a step that retries, while its broker is killed and another replica takes over', async () => {
    const other = await startReplica(postgres.url, folder)
    const { operation } = await provision(other.url, 'killed', { name: 'killed', chaos: 'retries' })
    await go(`operations/${operation}`)
    await page.locator('.tl-track .bar.failed').first().waitFor()
    await shown(/trying again/)
    // In the middle of a call, so that the lease has to run out: it is looked at while it can do nothing.
    const isRunByOther = async () => {
      other.freeze()
      const path = `/admin/operations/${operation}`
      const { state, lease_owner = '' } = await send<{ state: string; lease_owner?: string }>(replica.url, 'GET', path)
      const isHolder = state === 'running' && lease_owner.includes(`/${other.process.pid}/`)
      if (!isHolder) other.thaw()
      return isHolder
    }
    await until('the other one runs it', isRunByOther)
    await other.kill()
    await page.locator('.tl-rule').waitFor()
    expect(await page.locator('.tl-rule').textContent()).toMatch(/ → .*\/\d+, fence …?\d+$/)
    await page.locator('.bar .times').waitFor()
    mend()
    await shown(/Succeeded after/)
    await page.getByText(/As a table/).click()
    expect(await page.getByRole('cell', { name: /took over/ }).count()).toBeGreaterThan(0)
    await page.getByLabel('Only steps that failed').check()
    expect(await page.locator('.tl-label').allInnerTexts()).toEqual(['start server'])
    unmend()
  })

  it('tries a failed operation again, as a new one', async () => {
    const { operation } = await provision(replica.url, 'fails', { name: 'fails', chaos: 'fails' })
    await until('it has failed', async () => (await stateOf(replica.url, operation)) === 'failed')
    await go('')
    await page
      .getByRole('link', { name: /provision, start server/ })
      .first()
      .click()
    await shown(/There is no capacity left/)
    expect(await page.getByRole('button', { name: 'Cancel', exact: true }).isDisabled()).toBe(true)
    mend()
    await press('Try again')
    await giveReason('Try again', 'the quota was raised')
    await page.waitForURL(url => !url.pathname.includes(String(operation)))
    await shown(/Succeeded after/)
    unmend()
    await go('history')
    await shown('the quota was raised')
  })

  it('holds what would fail, and releases it', async () => {
    const { operation } = await provision(replica.url, 'holds', { name: 'holds', chaos: 'held' }, 'held-database')
    await until('it is held', async () => (await stateOf(replica.url, operation)) === 'held')
    await go('operations?state=held')
    await page.getByRole('link', { name: 'provision' }).click()
    await shown(/Held for a decision/)
    mend()
    await press('Release')
    await giveReason('Release', 'its server is back')
    await shown(/Succeeded after/)
    unmend()
  })

  /** A run that has not ended refuses another. */
  async function sync() {
    await until('no sync runs', async () => {
      const { chores } = await send<{ chores: { name: string; running: boolean }[] }>(
        replica.url,
        'GET',
        '/admin/chores',
      )
      return chores.some(({ name, running }) => name === 'sync' && !running)
    })
    await press('Sync now')
  }

  it('syncs a registry, and moves an instance to a new revision', async () => {
    await go('upkeep')
    publish('1.1.0')
    await sync()
    await page.locator('td', { hasText: '1.1.0' }).waitFor()
    const services = await send<{ services: { id: string; name: string; plans: { id: string }[] }[] }>(
      replica.url,
      'GET',
      '/v2/catalog',
    )
    const greeter = services.services.find(({ name }) => name.endsWith('greeter'))
    await send(replica.url, 'PUT', '/v2/service_instances/hello?accepts_incomplete=true', {
      service_id: greeter?.id,
      plan_id: greeter?.plans[0]?.id,
    })
    const revision = async () =>
      (await send<{ revision_id?: string; phase: string }>(replica.url, 'GET', '/admin/instances/hello')) ?? {}
    await until('it is ready', async () => (await revision()).phase === 'ready')
    const before = (await revision()).revision_id
    publish('1.2.0')
    await sync()
    await page.locator('td', { hasText: '1.2.0' }).waitFor()
    await go('instances/hello')
    await press('Move to a revision')
    await giveReason('Move to a revision', 'a fault was corrected')
    await until('it has moved', async () => (await revision()).revision_id !== before)
  })

  it('names a registry that does not answer, and says when it does again', async () => {
    silence()
    await go('upkeep')
    await sync()
    await page.locator('.lines .problem').first().waitFor()
    await go('')
    await page.getByRole('region', { name: 'Registries that do not answer' }).getByText('local').waitFor()
    answer()
    await go('upkeep')
    await sync()
    await page.getByText('answers', { exact: true }).waitFor()
  })

  it('abandons an instance, and says what is left of it', async () => {
    await go('instances/killed')
    await press('Abandon')
    await giveReason('Abandon', 'its backend is gone')
    await shown('It counts as deleted.')
    await shown(/volume, server/)
  })

  /** Once more than by itself. */
  const isSwept = async (binding?: string) => {
    const path = '/admin/history?instance_id=by-form&verb=sweep'
    const { items } = await send<{ items: { operation_id: string; binding_id?: string }[] }>(replica.url, 'GET', path)
    const id = items.find(({ binding_id }) => binding_id === binding)?.operation_id
    return id !== undefined && (await stateOf(replica.url, id)) === 'succeeded'
  }

  it('deletes a binding once more that an unbind has deleted', async () => {
    await go('instances/by-form')
    const gone = page.getByRole('region', { name: 'Deleted bindings' })
    await gone.getByText('app', { exact: true }).waitFor()
    await gone.getByRole('button', { name: 'Delete once more' }).click()
    await giveReason('Delete once more', 'its user is still there')
    await until('it is swept', () => isSwept('app'))
  })

  it('deprovisions', async () => {
    await go('instances/by-form')
    await press('Deprovision')
    await page.getByRole('dialog').getByRole('button', { name: 'Deprovision', exact: true }).click()
    await until('it is deleted', async () => {
      const { phase } = await send<{ phase: string }>(replica.url, 'GET', '/admin/instances/by-form')
      return phase === 'deleted'
    })
    await page.locator('.head .state', { hasText: 'deleted' }).waitFor()
  })

  it('deletes an instance once more', async () => {
    await page.getByRole('region', { name: 'Deleted bindings' }).waitFor({ state: 'hidden' })
    await press('Delete once more')
    await giveReason('Delete once more', 'its volume is still there')
    await until('it is swept', () => isSwept())
  })

  it('closes a gate, of which platforms are told, and opens it', async () => {
    await go('gates')
    await press('Close a gate')
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('What is refused').selectOption('provision')
    await dialog.getByLabel('Of the service').selectOption({ label: 'database' })
    await dialog.getByLabel('What platforms are told').fill('Until nine nothing new is made.')
    await dialog.getByLabel(/^Ask again after/).fill('600')
    await giveReason('Close it', 'maintenance')
    const line = page.getByRole('listitem').filter({ hasText: 'Provision: database' })
    await line.getByText('again after 600 s').waitFor()
    const { gates } = await send<{ gates: object[] }>(replica.url, 'GET', '/admin/gates')
    expect(gates).toEqual([
      expect.objectContaining({ action: 'provision', retry_after: 600, reason: 'maintenance', by: 'ada' }),
    ])
    await line.getByRole('button', { name: 'Open' }).click()
    await dialog.getByRole('button', { name: 'Open', exact: true }).click()
    await shown('All gates are open')
    expect(await send(replica.url, 'GET', '/admin/gates')).toEqual({ gates: [] })
  })

  it('shows an admin who is signed in; a session that is ended asks for the password, and goes on where it was', async () => {
    const other = await newPage()
    await signIn(other, replica.url, viewer)
    await go('sessions', other)
    await shown('Only admins see this', other)
    await go('instances?phase=ready', other)
    await other.getByRole('table').waitFor()
    await go('sessions')
    await page.getByRole('button', { name: 'All of vera' }).first().click()
    await page.getByRole('dialog').getByRole('button', { name: 'End', exact: true }).click()
    await until('nobody else is there', async () => (await page.getByText('All of vera').count()) === 0)
    // Nobody touches that page: what it asks for by itself is refused.
    await shown('Your session is over. The page behind stays as it is.', other)
    await other.getByLabel('User', { exact: true }).fill(viewer.username)
    await other.getByLabel('Password').fill(viewer.password)
    await press('Sign in', other)
    await other.getByRole('dialog', { name: 'Sign in again' }).waitFor({ state: 'hidden' })
    expect(new URL(other.url()).pathname + new URL(other.url()).search).toBe('/console/instances?phase=ready')
    await other.getByRole('table').waitFor()
    await until('all of it is there again', async () => (await other.locator('.problem-box').count()) === 0)
    await other.close()
  })

  it('lets a viewer look, and says why not where they may not', async () => {
    const other = await newPage()
    await signIn(other, replica.url, viewer)
    await go('instances/fails', other)
    await shown(/This needs the role admin/, other)
    expect(await other.getByRole('button', { name: 'Abandon' }).isDisabled()).toBe(true)
    expect(await other.getByRole('button', { name: 'Bind' }).count()).toBe(0)
    await go('try', other)
    await shown(/Your user has no role platform/, other)
    await go('operations', other)
    await other.getByLabel('Select all that are loaded').check()
    expect(await other.getByRole('button', { name: 'Try again' }).isDisabled()).toBe(true)
    await go('upkeep', other)
    expect(await other.getByRole('button', { name: 'Sync now' }).isDisabled()).toBe(true)
    await other.close()
  })

  it('asks for the password again when the session is over, without losing the page', async () => {
    const other = await newPage()
    const context = other.context()
    await signIn(other, replica.url)
    await go('try/database', other)
    await other.getByLabel('Name *').fill('half written')
    await context.clearCookies()
    await other.getByRole('button', { name: 'Provision' }).click()
    await shown('Your session is over. The page behind stays as it is.', other)
    await other.getByLabel('User', { exact: true }).fill('ada')
    await other.getByLabel('Password').fill('lovelace')
    await press('Sign in', other)
    await other.getByRole('dialog', { name: 'Sign in again' }).waitFor({ state: 'hidden' })
    expect(await other.getByLabel('Name *').inputValue()).toBe('half written')
    await other.getByRole('button', { name: 'Sign out' }).click()
    await shown('You are signed out', other)
    await context.close()
  })

  it('keeps filters in the address, and views in the browser', async () => {
    await go('operations')
    await page.getByLabel('State').selectOption('failed')
    expect(page.url()).toContain('state=failed')
    await page.getByLabel('Action').selectOption('provision')
    await press('Save this view')
    await page.getByLabel('Name of the view').fill('Failed provisions')
    await page.keyboard.press('Enter')
    await go('operations')
    await page.getByRole('link', { name: 'Failed provisions' }).click()
    await page.waitForURL(/state=failed&action=provision/)
    await page.reload()
    expect(await page.getByLabel('State').inputValue()).toBe('failed')
  })

  const bar = () => page.getByRole('region', { name: 'What is selected' })
  const dialog = () => page.getByRole('dialog')
  const check = async (verb: string, reason: string) => {
    await bar().getByRole('button', { name: verb, exact: true }).click()
    await dialog().getByLabel('Reason').fill(reason)
    await dialog().getByRole('button', { name: 'Check each of them' }).click()
  }

  it('says of each that is selected why it may not be done, before anything is', async () => {
    await go('operations?state=failed')
    await page.getByLabel('Select all that are loaded').check()
    await check('Cancel', 'nobody needs them')
    await dialog()
      .getByText(/match(es)?: 0 may be done, \d+ would be refused/)
      .waitFor()
    await dialog()
      .getByRole('cell', { name: /^It has ended/ })
      .first()
      .waitFor()
    expect(await dialog().getByRole('button', { name: 'Cancel: 0' }).isDisabled()).toBe(true)
    expect(await faultsOf(page)).toEqual([])
    await page.keyboard.press('Escape')
    await dialog().waitFor({ state: 'hidden' })
  })

  it('does one verb to many, stops, and does it to all that match', async () => {
    const ids = ['many-1', 'many-2']
    const operations = await Promise.all(
      ids.map(id => provision(replica.url, id, { name: id, chaos: 'held' }, 'held-database')),
    )
    const areHeld = async () => {
      const states = await Promise.all(operations.map(({ operation }) => stateOf(replica.url, operation)))
      return states.every(state => state === 'held')
    }
    await until('both are held', areHeld)
    await go('operations?state=held')
    await page.getByLabel('Select all that are loaded').check()
    await bar().getByText('2 selected').waitFor()
    await bar().getByRole('button', { name: 'Release', exact: true }).click()
    await dialog().getByLabel('Reason').fill('its server may be back')
    await dialog().getByText('How it is done').click()
    await dialog().getByLabel('First, one by one').fill('1')
    await dialog().getByRole('button', { name: 'Check each of them' }).click()
    await dialog().getByText('2 match: 2 may be done, 0 would be refused.').waitFor()
    await dialog().getByRole('button', { name: 'Release: 2' }).click()
    await page.waitForURL(/batches\/[^/]+$/)
    // The first is held again, so that the batch waits for its end: until somebody stops it.
    await shown('1 of 2 ended: 1 done, 0 refused.')
    await press('Stop')
    await dialog().getByRole('button', { name: 'Stop', exact: true }).click()
    await shown(/It was stopped by ada/)
    await page.getByRole('cell', { name: 'waits' }).waitFor()
    await until('both are held again', areHeld)
    mend()
    await go('operations?state=held')
    await page
      .getByLabel(/^Select (?!all)/)
      .first()
      .check()
    await bar().getByText('1 selected').waitFor()
    await bar().getByRole('button', { name: 'All that match' }).click()
    await bar().getByText('All 2 that match').waitFor()
    await check('Release', 'its server is back')
    await dialog().getByRole('button', { name: 'Release: 2' }).click()
    await shown('2 of 2 ended: 2 done, 0 refused.')
    await page.locator('.head .state', { hasText: 'done' }).waitFor()
    // Its rows are loaded after its state.
    await until('both rows are done', async () => (await page.getByRole('cell', { name: 'done' }).count()) === 2)
    unmend()
    await go('batches')
    await page.getByRole('link', { name: 'Release: 2 operations' }).nth(1).waitFor()
    await page.getByRole('cell', { name: 'stopped' }).waitFor()
  })

  it('can be used by keyboard', async () => {
    await go('')
    await page.keyboard.press('g')
    await page.keyboard.press('i')
    await page.waitForURL(/instances$/)
    await page.locator('main h1', { hasText: 'Instances' }).waitFor()
    await page.keyboard.press('/')
    expect(await page.evaluate(`document.activeElement.hasAttribute('data-search')`)).toBe(true)
    // A batch is asked for without a pointer: the first row, then a verb, and back out.
    await go('operations?state=failed')
    await page
      .getByLabel(/^Select (?!all)/)
      .first()
      .focus()
    await page.keyboard.press('Space')
    await bar().getByText('1 selected').waitFor()
    await bar().getByRole('button', { name: 'Try again' }).focus()
    await page.keyboard.press('Enter')
    await dialog().waitFor()
    expect(await page.evaluate(`document.activeElement.name`)).toBe('reason')
    await page.keyboard.press('Escape')
    await dialog().waitFor({ state: 'hidden' })
  })

  it('has no fault that axe finds, on any page, light and dark, on a desk and on a phone', async () => {
    const other = await newPage()
    await signIn(other, replica.url)
    const first = async (path: string) =>
      (await send<{ items: { id: string }[] }>(replica.url, 'GET', path)).items[0]?.id
    const pages = [
      '',
      'operations',
      `operations/${await first('/admin/operations?limit=1&state=failed')}`,
      'instances',
      'instances/fails',
      'batches',
      `batches/${await first('/admin/batches?limit=1')}`,
      'catalog',
      'workers',
      'upkeep',
      'gates',
      'sessions',
      'history',
      'try',
      'try/database',
    ]
    for (const path of pages) {
      await other.setViewportSize({ width: 1280, height: 800 })
      await other.emulateMedia({ colorScheme: 'light' })
      await go(path, other)
      await until(`${path} is loaded`, async () => (await other.locator('.skeleton').count()) === 0)
      expect(await faultsOf(other), `${path}, light`).toEqual([])
      // The colours are all that is other.
      await other.emulateMedia({ colorScheme: 'dark' })
      expect(await faultsOf(other, ['color-contrast']), `${path}, dark`).toEqual([])
      await other.setViewportSize({ width: 390, height: 800 })
      expect(await faultsOf(other), `${path}, phone`).toEqual([])
      expect(await other.evaluate('document.documentElement.scrollWidth - innerWidth'), path).toBeLessThanOrEqual(0)
    }
    await go('instances/fails', other)
    await press('Abandon', other)
    expect(await faultsOf(other)).toEqual([])
    await other.close()
  })

  it('never broke its own policy, threw an error, or asked another host', () => {
    expect(problems).toEqual([])
  })
})

/** axe runs in the page's world by the browser's own door, which no policy of the page closes. */
async function faultsOf(page: Page, rules?: readonly string[]): Promise<string[]> {
  await page.evaluate(axe.source)
  return page.evaluate(async only => {
    const { axe } = globalThis as unknown as { axe: { run(options: object): Promise<Axe> } }
    const { violations } = await axe.run(only === undefined ? {} : { runOnly: only })
    return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 160)).join(' | ')}`)
  }, rules)
}

interface Axe {
  readonly violations: readonly { readonly id: string; readonly nodes: readonly { readonly html: string }[] }[]
}
