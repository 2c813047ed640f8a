import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { onTestFinished } from 'vitest'
import { createBasicAuthenticator } from '../../src/authenticator/basic.ts'
import { createOpenIdAuthenticator } from '../../src/authenticator/openid.ts'
import { combineAuthenticators } from '../../src/authenticator.ts'
import { listen } from '../../src/http/node.ts'
import { startTestBroker } from '../../src/testing/test-broker.ts'
import { serviceOf } from '../engine/world.ts'
import { startProvider } from './provider.ts'

async function freePort(): Promise<number> {
  const server = createServer()
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as AddressInfo
  await new Promise(resolve => server.close(resolve))
  return port
}

const label = 'Sign in with Example “ID”'

/** A broker on a real socket, with a real provider. */
export async function startWithProvider() {
  const port = await freePort()
  const publicUrl = `http://127.0.0.1:${port}`
  const redirectUri = `${publicUrl}/console/signed-in`
  const provider = await startProvider(redirectUri)
  const failures: unknown[] = []
  const openId = createOpenIdAuthenticator({
    issuer: provider.issuer,
    clientId: 'purser',
    clientSecret: 'pro+vi/der=',
    scopes: [],
    algorithms: ['RS256'],
    clockSkew: 30_000,
    label,
    redirectUri,
    name: 'example',
    nameClaim: 'sub',
    platform: 'default',
    roles: [],
    rolesClaim: 'groups',
    roleNames: [
      { value: 'broker-admins', role: 'admin' },
      { value: 'guests', role: 'platform' },
    ],
    onFailure: error => failures.push(error),
  })
  const basic = createBasicAuthenticator([{ username: 'eve', password: 'pw', platform: 'default', roles: ['viewer'] }])
  const reasons: string[] = []
  const broker = await startTestBroker({
    services: [serviceOf({})],
    authenticator: combineAuthenticators([basic, openId]),
    settings: { server: { publicUrl } },
    observer: { 'authentication.failed': ({ scheme, reason }) => reasons.push(`${scheme}: ${reason}`) },
  })
  const server = await listen({ app: broker.handle, host: '127.0.0.1', port })
  onTestFinished(async () => {
    await server.close(0)
    await broker.stop()
    provider.stop()
  })
  const { store, clock } = broker
  return { provider, publicUrl, label, reasons, failures, store, clock, begin: `${publicUrl}/console/sign-in` }
}
