import { expect, it, onTestFinished } from 'vitest'
import { createBasicAuthenticator } from '../../src/authenticator/basic.ts'
import type { Role } from '../../src/authenticator.ts'
import { adminRoutes } from '../../src/http/admin/routes.ts'
import { startTestBroker } from '../../src/testing/test-broker.ts'
import { serviceOf } from '../engine/world.ts'

const looks = `me openapi.json stats revisions workers quotas errors events history history/chain history/entries instances instances/:id bindings operations
  operations/:id operations/:id/timeline operations/:id/log catalog chores registries gates gates/:action batches
  batches/:id batches/:id/items`
const acts = `instances/:id/observe instances/:id/sweep operations/:id/retry operations/:id/cancel operations/:id/fail
  operations/:id/hold operations/:id/release operations/:id/run-now chores/:name/runs registries/sync batches
  batches/:id/stop`
const words = (text: string) => text.split(/\s+/)

/** Who may send what, said once more: a route that is not here, or is for others, fails the test. */
const table: Readonly<Record<string, Role>> = Object.fromEntries([
  ...words(looks).map(path => [`GET /admin/${path}`, 'viewer']),
  ...words(acts).map(path => [`POST /admin/${path}`, 'operator']),
  ['PUT /admin/gates/:action', 'operator'],
  ['DELETE /admin/gates/:action', 'operator'],
  ['PUT /admin/log-levels', 'admin'],
  ...words('move abandon adopt adopt-bindings').map(verb => [`POST /admin/instances/:id/${verb}`, 'admin']),
  ['GET /admin/export', 'admin'],
  ['GET /admin/backup', 'admin'],
  ['GET /admin/sessions', 'admin'],
  ['DELETE /admin/sessions', 'admin'],
  ['DELETE /admin/sessions/:id', 'admin'],
  ['GET /admin/orphans', 'operator'],
  ['POST /admin/orphans/remove', 'admin'],
  ['GET /admin/keys', 'operator'],
  ['POST /admin/keys/rotate', 'operator'],
])

const roles = ['platform', 'viewer', 'operator', 'admin'] as const

async function start() {
  const authenticator = createBasicAuthenticator(
    roles.map(role => ({ username: role, password: 'x', platform: 'default', roles: [role] })),
  )
  const broker = await startTestBroker({ services: [serviceOf({})], authenticator })
  onTestFinished(() => broker.stop())
  // What is counted for all is there from the first survey on.
  await broker.clock.advance(31_000)
  return async (user: string | undefined, route: string) => {
    const [method = '', path = ''] = route.split(' ')
    const headers: Record<string, string> = user === undefined ? {} : { authorization: `Basic ${btoa(`${user}:x`)}` }
    const answer = await broker.fetch(new Request(`${broker.url}${path.replace(/:\w+/, 'x')}`, { method, headers }))
    const type = answer.headers.get('content-type')
    // A stream would go on.
    await answer.body?.cancel()
    return { status: answer.status, type }
  }
}

it('the table has every route', () => {
  const routes = Object.entries(adminRoutes).map(([key, { method, role }]) => [
    `${method} ${key.replace(/^\w+ /, '')}`,
    role,
  ])
  expect(Object.fromEntries(routes)).toEqual(table)
})

it.each(Object.entries(table))('%s needs the role %s, or one above it', async (route, least) => {
  const send = await start()
  expect(await send(undefined, route)).toEqual({ status: 401, type: 'application/problem+json' })
  for (const [place, role] of roles.entries()) {
    const { status, type } = await send(role, route)
    const isEnough = place >= roles.indexOf(least as (typeof roles)[number])
    expect(status === 403, `${role}: ${status}`).toBe(!isEnough)
    // What is not there, or has no body, is refused for that.
    if (status >= 400) expect(type, `${role}: ${status}`).toBe('application/problem+json')
    expect(status, role).toBeLessThan(500)
  }
})
