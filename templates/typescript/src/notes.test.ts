import assert from 'node:assert/strict'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { startTestBroker } from 'purser/testing'
import { createNotesBroker } from './notes.ts'

const ids = { service_id: 'notes', plan_id: 'notes-small' }
const request = { ...ids, context: { platform: 'test' }, organization_guid: 'o', space_guid: 's' }

// The broker is a whole one, in memory. It takes no port, and its time passes only with `clock.advance`.
test('notes are kept until the instance is removed', async t => {
  const folder = await mkdtemp(join(tmpdir(), 'notes-'))
  t.after(() => rm(folder, { recursive: true, force: true }))
  const broker = await startTestBroker(createNotesBroker({ folder, publicUrl: 'http://broker.test' }))
  t.after(() => broker.stop())
  const { client } = broker

  const provisioned = await client.provision('my-notes', { ...request, parameters: { maxLength: 10 } })
  assert.equal(provisioned.status, 201)
  const bound = await client.bind('my-notes', 'my-app', ids)
  assert.equal(bound.status, 201)
  const { url, token } = bound.body.credentials as { url: string; token: string }
  const send = (method: string, body?: string) =>
    broker.fetch(
      new Request(`${url}/shopping`, { method, body: body ?? null, headers: { authorization: `Bearer ${token}` } }),
    )

  assert.equal((await send('PUT', 'buy milk')).status, 200)
  assert.equal(await (await send('GET')).text(), 'buy milk')
  assert.equal((await send('PUT', 'buy milk and bread')).status, 413)

  assert.equal((await client.unbind('my-notes', 'my-app', ids)).status, 200)
  assert.equal((await send('GET')).status, 401)
  assert.equal((await client.deprovision('my-notes', ids)).status, 200)
  assert.deepEqual(await readdir(folder), [])
})

test('parameters that the schema does not have are refused', async t => {
  const broker = await startTestBroker(createNotesBroker({ folder: '/nowhere', publicUrl: 'http://broker.test' }))
  t.after(() => broker.stop())
  const { status } = await broker.client.provision('my-notes', { ...request, parameters: { maxLength: 'long' } })
  assert.equal(status, 400)
})
