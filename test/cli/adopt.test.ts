import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { main } from '../../src/cli/main.ts'
import { startCannedBroker } from './canned-broker.ts'
import { createTestIo, makeFolder, runCli } from './test-io.ts'

const one = 'POST /admin/instances/i/adopt'
const other = 'POST /admin/instances/j/adopt'
const adopted = { status: 201, body: { instance_id: 'i', outcome: 'adopted', warnings: [], bindings: [] } }
const refused = { status: 409, body: { error: 'InstanceConflict', detail: 'state differ.' } }

async function run(
  args: readonly string[],
  answers: Parameters<typeof startCannedBroker>[0],
  files: Readonly<Record<string, string>> = {},
) {
  const broker = await startCannedBroker(answers)
  const cwd = await makeFolder()
  for (const [name, text] of Object.entries(files)) await writeFile(join(cwd, name), text)
  const given = ['instances', 'adopt', ...args, '--reason', 'why']
  return { ...(await runCli(given, { cwd, env: { PURSER_URL: broker.url } })), requests: broker.requests }
}

it('adopts one instance, as its options say', async () => {
  const args = ['i', '--service', 's', '--plan', 'p', '--params', '{"a":1}', '--state', '@s.json', '--platform', 'cf']
  const warned = { ...adopted, body: { ...adopted.body, warnings: ['a is odd'] } }
  const { code, out, err, requests } = await run(args, { [one]: warned }, { 's.json': '{"b":2}' })
  expect(requests[0]?.body).toEqual({
    service_id: 's',
    plan_id: 'p',
    parameters: { a: 1 },
    state: { b: 2 },
    platform: 'cf',
    reason: 'why',
  })
  expect(out).toBe('instance_id  i\noutcome      adopted\n')
  expect(err).toContain('warning: a is odd')
  expect(code).toBe(0)
})

it('says why one was refused', async () => {
  const { code, err } = await run(['i', '--service', 's', '--plan', 'p'], { [one]: refused })
  expect(err).toContain('why: the broker answered 409 InstanceConflict: state differ.')
  expect(code).toBe(1)
})

it.each([[[]], [['i']], [['i', '--file', 'x']]])('is wrong usage with %j', async args => {
  expect((await run(args, {})).code).toBe(2)
})

const lines = [
  { instance_id: 'i', service_id: 's', plan_id: 'p' },
  { instance_id: 'j', service_id: 's', plan_id: 'p', bindings: [{ binding_id: 'n' }] },
  { instance_id: 'i', binding_id: 'b', service_id: 's', plan_id: 'p', credentials: {} },
  { instance_id: 'k', binding_id: 'c' },
]
const answers = {
  [one]: {
    status: 201,
    body: { outcome: 'adopted', warnings: ['odd'], bindings: [{ binding_id: 'b', outcome: 'adopted', warnings: [] }] },
  },
  [other]: refused,
  'POST /admin/instances/k/adopt-bindings': {
    status: 200,
    body: { bindings: [{ binding_id: 'c', outcome: 'unchanged', warnings: [] }] },
  },
}
const ndjson = lines.map(line => `${JSON.stringify(line)}\n`).join('\n')

it('adopts all of a file, bindings with their instances, and exits with 6 where some were refused', async () => {
  const { code, out, err, requests } = await run(['--file', 'f.ndjson'], answers, { 'f.ndjson': ndjson })
  expect(out).toBe(`line 1: i: adopted
line 1: i: warning: odd
line 5: i/b: adopted
line 3: j: refused: the broker answered 409 InstanceConflict: state differ.
line 3: j/n: refused: the broker answered 409 InstanceConflict: state differ.
line 7: k/c: is here already
2 adopted, 1 here already, 2 refused.
`)
  expect(requests.find(({ path }) => path.includes('/i/'))?.body).toEqual({
    service_id: 's',
    plan_id: 'p',
    bindings: [{ binding_id: 'b', credentials: {} }],
    reason: 'why',
  })
  expect(err).toContain('2 items of 5 could not be adopted')
  expect(code).toBe(6)
})

it.each([
  ['f.json', JSON.stringify(lines)],
  ['f.yaml', lines.map(line => `- ${JSON.stringify(line)}\n`).join('')],
])('reads %s, and prints one JSON object', async (name, text) => {
  const { code, out } = await run(['--file', name, '--output', 'json', '--dry-run'], answers, { [name]: text })
  expect(JSON.parse(out)).toMatchObject({ dry_run: true, adopted: 2, unchanged: 1, refused: 2 })
  expect(JSON.parse(out).items[0]).toEqual({ at: 'item 1', instance_id: 'i', outcome: 'adopted', warnings: ['odd'] })
  expect(code).toBe(6)
})

it('reads stdin, and says what a dry run would do', async () => {
  const broker = await startCannedBroker(answers)
  const io = createTestIo({ env: { PURSER_URL: broker.url } })
  io.stdin.end(JSON.stringify(lines[0]))
  expect(await main(['instances', 'adopt', '--file', '-', '--dry-run', '--reason', 'why'], io)).toBe(0)
  expect(io.out()).toContain('line 1: i: would be adopted\n')
  expect(broker.requests[0]?.body).toMatchObject({ dry_run: true })
})

it.each([
  ['{"instance_id":"i"}\nnonsense', 'line 2 is not a JSON object'],
  ['{"binding_id":"b"}', 'line 1 has no instance_id'],
  ['{"instance_id":"i"}\n{"instance_id":"i"}', 'line 2 has the instance_id of line 1'],
])('sends nothing of a file that it cannot read: %s', async (text, why) => {
  const { code, err, requests } = await run(['--file', 'f'], answers, { f: text })
  expect(err).toContain(why)
  expect({ code, requests }).toEqual({ code: 2, requests: [] })
})
