import type { AddressInfo, Socket } from 'node:net'
import { createServer } from 'node:net'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createOsbClient, OsbConnectionError } from '../../src/client/index.ts'
import type { Clock } from '../../src/clock.ts'
import { findFreePort, startCannedBroker } from './canned-broker.ts'

describe('the OSB client', () => {
  it('has one method for each endpoint', async () => {
    const broker = await startCannedBroker({})
    const client = createOsbClient({ url: broker.url })
    const ids = { service_id: 's', plan_id: 'p' }
    await client.catalog()
    await client.provision('i', ids, { acceptsIncomplete: true })
    await client.fetchInstance('i', ids)
    await client.update('i', { service_id: 's', parameters: { a: 1 } }, { acceptsIncomplete: true })
    await client.deprovision('i', ids, { acceptsIncomplete: true })
    await client.lastOperation('i', { ...ids, operation: 'o&1' })
    await client.bind('i', 'b', ids, { acceptsIncomplete: false })
    await client.fetchBinding('i', 'b')
    await client.unbind('i', 'b', ids)
    await client.lastBindingOperation('i', 'b', { operation: 'o' })
    expect(broker.requests.map(({ method, url }) => `${method} ${url}`)).toEqual([
      'GET /v2/catalog',
      'PUT /v2/service_instances/i?accepts_incomplete=true',
      'GET /v2/service_instances/i?service_id=s&plan_id=p',
      'PATCH /v2/service_instances/i?accepts_incomplete=true',
      'DELETE /v2/service_instances/i?service_id=s&plan_id=p&accepts_incomplete=true',
      'GET /v2/service_instances/i/last_operation?service_id=s&plan_id=p&operation=o%261',
      'PUT /v2/service_instances/i/service_bindings/b',
      'GET /v2/service_instances/i/service_bindings/b',
      'DELETE /v2/service_instances/i/service_bindings/b?service_id=s&plan_id=p',
      'GET /v2/service_instances/i/service_bindings/b/last_operation?operation=o',
    ])
    expect(broker.requests[1]?.body).toEqual(ids)
    expect(broker.requests[3]?.body).toEqual({ service_id: 's', parameters: { a: 1 } })
  })

  it('HDR-01 AUTH-03 RID-02 sends its headers with every request, and lets a test change them', async () => {
    const broker = await startCannedBroker({})
    let number = 0
    const client = createOsbClient({
      url: broker.url,
      username: 'u',
      password: 'p',
      apiVersion: '2.13',
      originatingIdentity: { platform: 'cf', user: { user_id: 'x' } },
      requestIdentity: () => String(++number),
    })
    await client.catalog()
    await client.catalog({ headers: { 'X-Broker-API-Version': undefined, Authorization: 'Bearer t' } })
    const [first, second] = broker.requests
    expect(first?.headers).toMatchObject({
      'x-broker-api-version': '2.13',
      authorization: `Basic ${Buffer.from('u:p').toString('base64')}`,
      'x-broker-api-originating-identity': `cf ${Buffer.from('{"user_id":"x"}').toString('base64')}`,
      'x-broker-api-request-identity': '1',
    })
    expect(second?.headers['x-broker-api-version']).toBeUndefined()
    expect(second?.headers).toMatchObject({ authorization: 'Bearer t', 'x-broker-api-request-identity': '2' })
  })

  it('keeps a prefix path, encodes ids, and uses credentials of the URL without showing them', async () => {
    const broker = await startCannedBroker({})
    const client = createOsbClient({ url: `${broker.url.replace('//', '//me:secret@')}/cf-eu/` })
    await client.lastOperation('a/b ü')
    expect(client.url).toBe(`${broker.url}/cf-eu`)
    expect(broker.requests[0]?.url).toBe('/cf-eu/v2/service_instances/a%2Fb%20%C3%BC/last_operation')
    expect(broker.requests[0]?.headers.authorization).toBe(`Basic ${Buffer.from('me:secret').toString('base64')}`)
  })

  it('returns refusals and bodies that are no JSON objects', async () => {
    const broker = await startCannedBroker({
      'GET /v2/catalog': [
        { status: 422, body: { error: 'X', description: 'y' }, headers: { 'Retry-After': '5' } },
        { status: 502, text: '<html>' },
        { status: 200, text: '[1]' },
      ],
    })
    const client = createOsbClient({ url: broker.url })
    expect(await client.catalog()).toMatchObject({ status: 422, body: { error: 'X' }, headers: { 'retry-after': '5' } })
    expect(await client.catalog()).toMatchObject({ status: 502, body: {}, text: '<html>' })
    expect(await client.catalog()).toMatchObject({ status: 200, body: {}, text: '[1]' })
  })

  it('says what, where and what next when nothing listens, without credentials', async () => {
    const port = await findFreePort()
    const client = createOsbClient({ url: `http://u:secret@127.0.0.1:${port}` })
    const error = await client.catalog().catch((reason: unknown) => reason)
    expect(error).toBeInstanceOf(OsbConnectionError)
    expect(error).toMatchObject({
      what: 'the broker could not be reached',
      where: `GET http://127.0.0.1:${port}/v2/catalog`,
      why: `nothing listens at http://127.0.0.1:${port}`,
      next: 'Start the broker, or give the address of a running one.',
    })
    expect(String(error)).not.toContain('secret')
  })

  it('explains ports that fetch refuses', async () => {
    const call = createOsbClient({ url: 'http://127.0.0.1:6000' }).catalog()
    await expect(call).rejects.toMatchObject({ next: 'Let the broker listen on another port.' })
  })

  it('says so when the connection is broken off', async () => {
    const broker = await startCannedBroker({ 'GET /v2/catalog': 'hang up' })
    const call = createOsbClient({ url: broker.url }).catalog()
    await expect(call).rejects.toThrow(`${broker.url} broke the connection off`)
  })

  it('gives a request up after the timeout', async () => {
    const timers: (() => void)[] = []
    const clock: Clock = {
      now: () => 0,
      after(_ms, callback) {
        timers.push(callback)
        return () => {}
      },
    }
    const { url, connected } = await startSilentServer()
    const call = createOsbClient({ url, timeout: 5000, clock }).catalog()
    const settled = expect(call).rejects.toMatchObject({
      name: 'OsbConnectionError',
      why: 'no answer within 5 seconds',
    })
    await connected
    for (const fire of timers) fire()
    await settled
  })

  it('ends with the reason of its signal', async () => {
    const { url, connected } = await startSilentServer()
    const controller = new AbortController()
    const call = createOsbClient({ url }).catalog({ signal: controller.signal })
    const settled = expect(call).rejects.toThrow('enough')
    await connected
    controller.abort(new Error('enough'))
    await settled
    await expect(createOsbClient({ url }).catalog({ signal: controller.signal })).rejects.toThrow('enough')
  })
})

/** Accepts connections and says nothing. */
async function startSilentServer(): Promise<{ url: string; connected: Promise<void> }> {
  const { promise: connected, resolve: seen } = withResolvers()
  const sockets: Socket[] = []
  const server = createServer(socket => {
    socket.on('error', () => {})
    sockets.push(socket)
    seen()
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(async () => {
    for (const socket of sockets) socket.destroy()
    await new Promise(resolve => server.close(resolve))
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, connected }
}

function withResolvers(): { promise: Promise<void>; resolve: () => void } {
  let resolve = () => {}
  const promise = new Promise<void>(done => {
    resolve = done
  })
  return { promise, resolve }
}
