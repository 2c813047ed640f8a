import { request } from 'node:http'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createBasicAuthenticator } from '../../src/authenticator/basic.ts'
import { silent } from '../../src/observer.ts'
import { startTestBroker } from '../../src/testing/test-broker.ts'
import { createVirtualClock } from '../../src/testing/virtual-clock.ts'
import { serviceOf } from '../engine/world.ts'
import { realClock } from '../moving/stores.ts'
import { cheapHash } from './cheap-hash.ts'

const attacker = '127.0.0.2'
const other = '127.0.0.3'

describe('a flood of wrong passwords on real sockets', () => {
  it('gets 429 and Retry-After, and a platform that was let in before goes on from any address', async () => {
    const { ask, reasons } = await start()
    expect(await ask(attacker, 'cf:right')).toMatchObject({ status: 200 })
    const flood = await Promise.all(Array.from({ length: 200 }, (_, number) => ask(attacker, `cf:wrong ${number}`)))
    const refused = flood.filter(({ status }) => status === 429)
    expect(flood.filter(({ status }) => status === 401)).toHaveLength(32)
    expect(refused).toHaveLength(168)
    for (const { retryAfter, challenge, error } of refused) {
      expect(Number(retryAfter)).toBeGreaterThan(0)
      expect({ challenge, error }).toEqual({ challenge: undefined, error: 'TooManyLogins' })
    }
    expect(await ask(attacker, 'cf:right')).toMatchObject({ status: 200 })
    expect(await ask(other, 'cf:right')).toMatchObject({ status: 200 })
    // Never seen before: from the attacker's address it has to wait, from elsewhere it works.
    expect(await ask(attacker, 'k8s:right')).toMatchObject({ status: 429 })
    expect(await ask(other, 'k8s:right')).toMatchObject({ status: 200 })
    expect(await ask(attacker, 'k8s:right')).toMatchObject({ status: 200 })
    expect(reasons).toContain('too many attempts to log in')
  })

  it('leaves a platform its way in that comes in the middle of it', async () => {
    const { ask } = await start()
    const flood = Array.from({ length: 200 }, (_, number) => ask(attacker, `nobody-${number}:wrong`))
    expect(await ask(other, 'cf:right')).toMatchObject({ status: 200 })
    await Promise.all(flood)
  })
})

async function start() {
  const passwordHash = cheapHash('right')
  const users = ['cf', 'k8s'].map(username => ({
    username,
    passwordHash,
    platform: username,
    roles: ['platform' as const],
  }))
  const reasons: string[] = []
  const broker = await startTestBroker({
    services: [serviceOf({})],
    transport: 'socket',
    // Refusals go out at a pace. The limits of logins have a clock of their own, which stands still.
    clock: realClock,
    authenticator: createBasicAuthenticator(users, createVirtualClock()),
    observer: { ...silent, 'authentication.failed': ({ reason }) => reasons.push(reason) },
  })
  onTestFinished(() => broker.stop())
  const ask = (localAddress: string, login: string) =>
    new Promise<{ status?: number; retryAfter?: string; challenge?: string; error?: string }>((resolve, reject) => {
      const authorization = `Basic ${Buffer.from(login).toString('base64')}`
      const headers = { authorization, 'x-broker-api-version': '2.17' }
      const sent = request(`${broker.url}/v2/catalog`, { localAddress, agent: false, headers }, response => {
        const { 'retry-after': retryAfter, 'www-authenticate': challenge } = response.headers
        let body = ''
        response.setEncoding('utf8').on('data', text => {
          body += text
        })
        response.on('end', () =>
          resolve({ status: response.statusCode, retryAfter, challenge, error: JSON.parse(body).error }),
        )
      })
      sent.on('error', reject).end()
    })
  return { ask, reasons }
}
