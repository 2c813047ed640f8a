import { expect, it } from 'vitest'
import { startTestBroker } from '../../src/testing/index.ts'
import { startCannedBroker } from '../cli/canned-broker.ts'
import { makeFolder, runCli } from '../cli/test-io.ts'
import { write } from './tampered-ledger.ts'

async function run(url: string, ...args: readonly string[]) {
  return runCli(['history', ...args], { cwd: await makeFolder(), env: { PURSER_URL: url } })
}

const link = (no: number) => ({ no, hash: String(no).repeat(64).slice(0, 64) })

it('verify and export: the chore puts lines into the chain, and the command walks through them', async () => {
  const broker = await startTestBroker({ services: [], transport: 'socket' })
  try {
    for (let index = 0; index < 700; index += 1)
      await write(broker.store, { at: broker.clock.now(), type: 'healed', instanceId: 'i', message: `${index}` })
    expect((await run(broker.url, 'verify')).out).toContain('not_yet_in_the_chain  700\n')
    await broker.clock.advance(20_000)
    const verified = await run(broker.url, 'verify', '--output', 'json')
    const result = JSON.parse(verified.out)
    expect([verified.code, result]).toMatchObject([0, { ok: true, lines: 700, first: 1, not_yet_in_the_chain: 0 }])
    expect(result.head).toMatch(/^700:[0-9a-f]{64}$/)
    expect((await run(broker.url, 'verify', '--head', result.head)).out).toMatch(
      /Nothing is missing, and nothing was changed\.\n$/,
    )
    const exported = (await run(broker.url, 'export')).out.trim().split('\n')
    expect(exported.length).toBe(700)
    expect(JSON.parse(exported.at(-1) ?? '')).toMatchObject({
      no: 700,
      entry: { no: 700, instance_id: 'i', message: '699' },
    })
    const other = await run(broker.url, 'verify', '--head', `701:${'0'.repeat(64)}`)
    expect([other.code, other.err]).toEqual([
      5,
      expect.stringContaining('the chain ends with line 700, and had 701 lines'),
    ])
    expect((await run(broker.url, 'verify', '--head', 'x')).code).toBe(2)
  } finally {
    await broker.stop()
  }
})

it('verify: exits with 5 and says which line it is', async () => {
  const chain = { anchor: link(0), head: link(2), proof: 'none', keyed: false, unlinked: 0, strays: 0 }
  const entries = { items: [{ ...link(1), entry: { no: 1 } }] }
  const broker = await startCannedBroker({
    'GET /admin/history/chain': { status: 200, body: chain },
    'GET /admin/history/entries': { status: 200, body: entries },
  })
  const { code, err } = await run(broker.url, 'verify')
  expect([code, err]).toEqual([5, expect.stringContaining('line 1 is not the line that was written')])
  const json = JSON.parse((await run(broker.url, 'verify', '--output', 'json')).out)
  expect(json).toMatchObject({ ok: false, lines: 0, fault: { no: 1, kind: 'changed' } })
})
