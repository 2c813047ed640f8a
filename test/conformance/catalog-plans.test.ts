import { expect } from 'vitest'
import { conformance, requirement } from './harness.ts'
import { another, bare, bareService, bindable, bound, offerings, provisioned, refused } from './helpers.ts'
import { full, org } from './services.ts'

const plan = (special: object = {}) => ({ id: 'bare-plan', name: 'plan', description: 'A plan', ...special })
const withPlans = (...plans: object[]) => [bareService({ plans })]

conformance('Plans of the catalog', () => {
  requirement('CAT-30', 'a plan without an id, or with one that is taken by any service, is refused', async t => {
    await refused(t, withPlans(plan({ id: undefined })), /"id" is missing/)
    await refused(t, withPlans(plan({ id: '' })), /"id" is empty/)
    await refused(t, withPlans(plan(), plan({ name: 'other' })), /plan id "bare-plan" is already used/)
    const twin = bareService({ id: 'twin', name: 'twin' })
    await refused(t, [bareService(), twin], /plan id "bare-plan" is already used by service "bare"/)
    const ids = (await offerings(t)).flatMap(offering => offering.plans.map(({ id }) => id))
    expect(new Set(ids).size).toBe(ids.length)
  })

  requirement('CAT-30', 'a plan is one of its own offering only', async t => {
    const answer = await t.client.provision('i', { service_id: 'plain', plan_id: 'full-small', ...org })
    expect([answer.status, answer.body.error]).toEqual([400, 'UnknownPlan'])
    expect(t.backend.done).toEqual([])
  })

  requirement('CAT-31', 'a plan without a name, or with one that its offering has already, is refused', async t => {
    await refused(t, withPlans(plan({ name: undefined })), /"name" is missing/)
    await refused(t, withPlans(plan({ name: '' })), /"name" is empty/)
    await refused(t, withPlans(plan(), plan({ id: 'other' })), /plan name "plan" is already used/)
    const twin = bareService({ id: 'twin', name: 'twin', plans: [plan({ id: 'twin-plan' })] })
    const both = await another(t, { services: [bareService(), twin] })
    expect((await offerings(both)).map(offering => offering.plans[0]?.name)).toEqual(['plan', 'plan'])
    const odd = await another(t, { services: withPlans(plan({ name: 'two words' })) })
    expect(odd.catalogWarnings).toEqual([expect.stringMatching(/"two words" is hard to type/)])
  })

  requirement('CAT-32', 'a plan without a description is refused', async t => {
    await refused(t, withPlans(plan({ description: undefined })), /plan "plan": "description" is missing/)
    await refused(t, withPlans(plan({ description: '' })), /"description" is empty/)
    for (const offering of await offerings(t))
      for (const { description } of offering.plans) expect(description).toMatch(/\w/)
  })

  requirement('CAT-33', 'what costs something says free: false, and nothing is said for the author', async t => {
    const plans = (await offerings(t))[0]?.plans.map(({ id, free }) => [id, free])
    expect(plans?.slice(0, 3)).toEqual([
      ['full-small', true],
      ['full-large', false],
      ['full-fixed', undefined],
    ])
    await refused(t, withPlans(plan({ free: 'no' })), /"free" must be true or false/)
  })

  requirement('CAT-34', 'what a plan says of bindable beats its offering, in both directions', async t => {
    const unbindable = { service_id: 'full', plan_id: 'full-unbindable' }
    await provisioned(t, 'i', unbindable)
    const answer = await t.client.bind('i', 'b', unbindable)
    expect([answer.status, answer.body.error]).toEqual([400, 'NotBindable'])
    await provisioned(t, 'j')
    await bound(t, 'j')
    const reverse = await another(t, {
      services: [
        bareService({
          ...bindable,
          bindable: false,
          bindingsRetrievable: true,
          plans: [plan({ bindable: true }), plan({ id: 'silent', name: 'silent' })],
        }),
      ],
    })
    const [offering] = await offerings(reverse)
    expect([offering?.bindable, offering?.plans.map(({ bindable }) => bindable)]).toEqual([false, [true, undefined]])
    await provisioned(reverse, 'i', bare)
    expect((await reverse.client.bind('i', 'b', bare)).status).toBe(201)
    const silent = { service_id: 'bare', plan_id: 'silent' }
    await provisioned(reverse, 'j', silent)
    expect((await reverse.client.bind('j', 'b', silent)).body.error).toBe('NotBindable')
  })

  requirement(
    'CAT-35',
    'what a plan says of plan_updateable beats its offering, for those who leave the plan',
    async t => {
      const fixed = { service_id: 'full', plan_id: 'full-fixed' }
      await provisioned(t)
      expect((await t.client.update('i', fixed)).status).toBe(200)
      const stuck = await t.client.update('i', full)
      expect([stuck.status, stuck.body.error]).toEqual([422, 'PlanChangeNotSupported'])
      expect((await t.client.fetchInstance('i')).body.plan_id).toBe('full-fixed')
      const open = plan({ id: 'open', name: 'open', planUpdateable: true })
      const reverse = await another(t, { services: [bareService({ plans: [plan(), open], update: async () => {} })] })
      await provisioned(reverse, 'i', { service_id: 'bare', plan_id: 'open' })
      expect((await reverse.client.update('i', bare)).status).toBe(200)
      expect((await reverse.client.update('i', { ...bare, plan_id: 'open' })).status).toBe(422)
      expect((await reverse.client.fetchInstance('i')).body.plan_id).toBe('bare-plan')
    },
  )

  requirement('CAT-38', 'maintenance_info without a version is refused', async t => {
    await refused(
      t,
      withPlans(plan({ maintenanceInfo: { description: 'soon' } })),
      /"maintenanceInfo.version" is missing/,
    )
    await refused(t, withPlans(plan({ maintenanceInfo: '1.0.0' })), /"maintenanceInfo" must be a map/)
    const shown = (await offerings(t)).flatMap(offering => offering.plans.flatMap(each => each.maintenance_info ?? []))
    expect(shown.map(({ version }) => version)).toEqual(['1.2.3+build.1', '2.0.0'])
  })

  requirement('PMETA-01', 'the customary metadata of an offering is carried as it is', async t => {
    const metadata = {
      displayName: 'A name',
      imageUrl: `data:image/png;base64,${'A'.repeat(1000)}`,
      longDescription: 'More of it',
      providerDisplayName: 'ACME',
      documentationUrl: 'https://docs.example',
      supportUrl: 'https://support.example',
    }
    const broker = await another(t, { services: [bareService({ metadata })] })
    expect((await offerings(broker))[0]?.metadata).toEqual(metadata)
    expect(broker.catalogWarnings).toEqual([])
    await refused(t, [bareService({ metadata: 'text' })], /"metadata" must be a map/)
  })

  requirement(
    ['PMETA-02', 'PMETA-03'],
    'the customary metadata of a plan is carried as it is, costs included',
    async t => {
      const metadata = {
        displayName: 'Small',
        bullets: ['20 GB', '5 users'],
        costs: [
          { amount: { usd: 99.5, eur: 49 }, unit: 'MONTHLY' },
          { amount: { usd: 0.99 }, unit: '1GB of messages over 20GB' },
        ],
      }
      const broker = await another(t, { services: withPlans(plan({ metadata })) })
      expect((await offerings(broker))[0]?.plans[0]?.metadata).toEqual(metadata)
      const infinite = { costs: [{ amount: { usd: Number.POSITIVE_INFINITY }, unit: 'x' }] }
      await refused(t, withPlans(plan({ metadata: infinite })), /must be a map that JSON can hold/)
    },
  )

  requirement('PMETA-04', 'an offering may say that its instances can be shared', async t => {
    const shown = (await offerings(t)).map(({ id, metadata }) => [id, metadata?.shareable])
    expect(shown.slice(0, 2)).toEqual([
      ['full', true],
      ['always-async', undefined],
    ])
  })

  requirement('DASH-01', 'a dashboard client has an id and a secret, and an id of its own', async t => {
    const client = { id: 'c', secret: 's', redirectUri: 'https://x.example' }
    const refusals: [object, RegExp][] = [
      [{ ...client, id: undefined }, /"dashboardClient.id" is missing/],
      [{ ...client, id: '' }, /"dashboardClient.id" is empty/],
      [{ ...client, secret: undefined }, /"dashboardClient.secret" is missing/],
      [{ ...client, secret: '' }, /"dashboardClient.secret" is empty/],
    ]
    for (const [dashboardClient, reason] of refusals) await refused(t, [bareService({ dashboardClient })], reason)
    const twin = bareService({
      id: 'twin',
      name: 'twin',
      plans: [plan({ id: 'twin-plan' })],
      dashboardClient: client,
    })
    await refused(t, [bareService({ dashboardClient: client }), twin], /dashboard client id "c" is already used/)
    const shown = (await offerings(t)).find(offering => offering.id === 'client')?.dashboard_client
    expect(shown).toEqual({ id: 'dash', secret: 'dash-secret', redirect_uri: 'https://dashboard.example' })
    const short = await another(t, { services: [bareService({ dashboardClient: { id: 'c', secret: 's' } })] })
    expect((await offerings(short))[0]?.dashboard_client).toEqual({ id: 'c', secret: 's' })
    expect(short.catalogWarnings).toEqual([expect.stringContaining('redirectUri')])
  })
})
