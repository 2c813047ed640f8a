import { describe, expect, it } from 'vitest'
import { type CannedAnswers, catalog, startCannedBroker } from './canned-broker.ts'
import { makeFolder, runCli } from './test-io.ts'

const answers: CannedAnswers = {
  'GET /v2/catalog': { status: 200, body: catalog },
  'GET /admin/instances': { status: 200, body: { items: [{ id: 'db-1' }, { id: 'db-2' }, { id: '$(reboot)' }] } },
  'GET /admin/operations': { status: 200, body: { items: [{ id: '0197-a' }] } },
  'GET /admin/bindings': { status: 200, body: { items: [{ id: 'bound' }] } },
  'GET /admin/chores': { status: 200, body: { chores: [{ name: 'purge' }] } },
}

/** No test depends on speed. */
const patient = { PURSER_COMPLETION_TIMEOUT: '1m' }

async function complete(line: string, env?: Readonly<Record<string, string>>) {
  const broker = await startCannedBroker(answers)
  const cwd = await makeFolder()
  const result = await runCli(['complete', '--', ...line.split(' ')], {
    cwd,
    env: { ...patient, ...(env ?? { PURSER_URL: broker.url }) },
  })
  expect(result).toMatchObject({ code: 0, err: '' })
  return result.out.split('\n').slice(0, -1)
}

describe('completion', () => {
  it.each([
    ['prov', ['provision']],
    ['instances a', ['abandon', 'adopt']],
    ['--url http://127.0.0.1:1 instances sh', ['show']],
    ['catalog --out', ['--output']],
    ['catalog --output js', ['json', 'jsonl']],
    ['catalog --output = js', ['json', 'jsonl']],
    ['completion z', ['zsh']],
    ['operations list --state ', ['queued', 'held', 'running', 'succeeded', 'failed', 'superseded']],
    ['operations list --action un', ['unbind']],
    ['operations list --order ', ['newest', 'oldest']],
    ['errors --action obs', ['observe']],
    ['instances list --phase d', ['deleting', 'deleted']],
    ['bindings list --phase r', ['ready']],
    ['history list --verb close', ['close-gate']],
    ['instances show db', ['db-1', 'db-2']],
    ['instances purge ', ['db-1', 'db-2']],
    ['operations show --output json 0', ['0197-a']],
    ['wait instances/', ['instances/db-1', 'instances/db-2']],
    ['unbind db-1 ', ['bound']],
    ['provision ', ['postgres', 'cache']],
    ['provision postgres ', ['small', 'large']],
    ['instances list --service ser', ['service-1', 'service-2']],
    ['instances list --plan plan-', ['plan-1', 'plan-2', 'plan-3']],
    ['chores run ', ['purge']],
    ['migrate --config ', []],
    ['nothing like it ', []],
  ])('purser %s', async (line, found) => {
    expect(await complete(line)).toEqual(found)
  })

  it('asks the broker that the line names', async () => {
    const broker = await startCannedBroker(answers)
    expect(await complete(`instances show --url ${broker.url} --user ops:x db-1`, {})).toEqual(['db-1'])
    expect(broker.requests[0]?.headers.authorization).toMatch(/^Basic/)
  })

  it('has nothing where nobody answers, and says so to nobody', async () => {
    expect(await complete('instances show ', { PURSER_URL: 'http://127.0.0.1:1' })).toEqual([])
    expect(await complete('instances show ', { PURSER_URL: 'no address' })).toEqual([])
    expect(await complete('instances show ', { PURSER_PROFILE: 'none' })).toEqual([])
  })
})
