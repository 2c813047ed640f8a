/** Bundles of a broker that is not root run as its own user, and see nothing of its files. */
import { execFile } from 'node:child_process'
import {
  chownSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { findContainment } from '../../src/sandbox/process/containment.ts'
import { whyNotRuntime } from '../external/wanted-runtime.ts'
import { type Bundled, bundle } from './bundled.ts'

const sources = { supervisor: 'src/sandbox/process/supervisor.ts', broker: 'test/sandbox/hidden-broker.ts' }
const unwanted = whyNotRuntime('process', () => undefined)
const { hides } = await findContainment()
const nobody = { uid: 65534, gid: 65534 }
const root = process.getuid?.() === 0
let bundled: Bundled
let base: string

beforeAll(async () => {
  bundled = await bundle(sources.supervisor, sources.broker)
})
afterAll(() => bundled.remove())
beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), "purser-o'hidden-"))
  for (const folder of ['.', 'ledger', 'bundles', 'bundles/p', 'bundles/revisions', 'bundles/revisions/other'])
    give(join(base, folder), () => mkdirSync(join(base, folder), { recursive: true }))
  for (const file of ['ledger/purser.db', 'bundles/revisions/other/entrypoint.sh'])
    give(join(base, file), () => writeFileSync(join(base, file), 'precious\n'))
})
afterEach(() => rmSync(base, { recursive: true, force: true }))

function quote(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}

/** The broker's user owns it. */
function give(path: string, make: () => void): void {
  make()
  if (root) chownSync(path, nobody.uid, nobody.gid)
}

interface Run {
  readonly refused?: string
  readonly status?: unknown
  readonly message?: string
}

async function run(script: string, options: object = {}, network = 'allowed'): Promise<Run> {
  const own = join(base, 'bundles', 'revisions', 'own')
  give(own, () => mkdirSync(own))
  const file = join(own, 'entrypoint.sh')
  give(file, () => writeFileSync(file, `#!/bin/sh\nexec 2>&1 >>"$BUNDLE_OUTPUT/message"\n${script}\n`, { mode: 0o755 }))
  const [node = '', child = ''] = bundled.command(sources.broker)
  const spec = {
    name: 'operation-1',
    labels: {},
    program: { kind: 'folder', folder: own },
    inputs: { action: 'provision', input: { parameter: 'mine' }, extraVars: {}, state: {}, helpers: {}, env: {} },
    limits: { time: 600_000, processes: 100 },
    network,
  }
  const { stdout } = await promisify(execFile)(
    node,
    [
      child,
      JSON.stringify({
        folder: join(base, 'bundles', 'p'),
        hidden: [join(base, 'bundles'), join(base, 'ledger'), join(base, 'nowhere')],
        supervisor: bundled.command(sources.supervisor),
        ...options,
      }),
      JSON.stringify(spec),
    ],
    root ? nobody : {},
  )
  return JSON.parse(stdout)
}

const why = unwanted ?? (hides ? undefined : 'this machine allows no view of the files of its own')

describe.skipIf(why !== undefined)('a bundle of a broker that is not root', () => {
  it('does its work: it has its inputs, its outputs and its own files', async () => {
    const { status, message } = await run('cat "$BUNDLE_INPUT"; test -x ./entrypoint.sh && id -u')
    expect(status).toEqual({ kind: 'exited', code: 0 })
    expect(message).toContain('mine')
    expect(message).toContain(String(root ? nobody.uid : process.getuid?.()))
  })

  it.each([
    ['the ledger', 'cat "$BASE/ledger/purser.db"'],
    ['the names of other revisions', 'ls "$BASE/bundles/revisions" | grep other'],
    ['other revisions, from where it began', 'cat ../other/entrypoint.sh'],
    ['other sandboxes', 'ls "$BASE/bundles/p" | grep -v operation-1'],
    ['it after taking the view away', 'umount "$BASE/ledger"; cat "$BASE/ledger/purser.db"'],
    [
      'it from a namespace of its own',
      'unshare --user --map-root-user --mount sh -c \'umount "$0/ledger"; cat "$0/ledger/purser.db"\' "$BASE"',
    ],
    ['it through another process', 'cat "/proc/1/cwd/../other/entrypoint.sh" "/proc/1/root$BASE/ledger/purser.db"'],
  ])('does not see %s', async (_name, script) => {
    mkdirSync(join(base, 'bundles', 'p', 'operation-2'))
    const { status, message = '' } = await run(`BASE=${quote(base)}\n${script} && echo precious\ntrue`)
    expect(status).toEqual({ kind: 'exited', code: 0 })
    expect(message).not.toContain('precious')
  })

  it('does not write to others, nor to its own revision', async () => {
    const { message } = await run(`
      echo changed > ${quote(join(base, 'bundles/revisions/other/entrypoint.sh'))}
      echo changed > ${quote(join(base, 'ledger/purser.db'))}
      touch ./left || echo refused`)
    expect(message).toContain('refused')
    expect(readdirSync(join(base, 'bundles/revisions/own'))).toEqual(['entrypoint.sh'])
    for (const file of ['ledger/purser.db', 'bundles/revisions/other/entrypoint.sh'])
      expect(readFileSync(join(base, file), 'utf8')).toBe('precious\n')
  })

  it.skipIf(readdirSync('/run').length === 0)('reaches no socket of the machine without a network', async () => {
    const { message } = await run('ls -A /run | wc -l', {}, 'none')
    expect(message?.trim()).toBe('0')
  })

  it('has its inputs where the folder is reached by a link', async () => {
    const link = join(base, 'ledger', 'link')
    symlinkSync(join(base, 'bundles', 'p'), link)
    const { status, message } = await run('cat "$BUNDLE_INPUT"', { folder: link })
    expect(status).toEqual({ kind: 'exited', code: 0 })
    expect(message).toContain('mine')
  })
})

describe.skipIf(unwanted !== undefined)('where the machine cannot hide files', () => {
  const containment = { namespaces: false, network: false, hides: false, counts: true }

  it('a broker that is not root does not run bundles as its own user', async () => {
    const { refused } = await run('true', { containment })
    expect(refused).toContain('cannot hide its ledger')
  })

  it('it does where it is told so', async () => {
    const { status } = await run('true', { containment, exposeFiles: true })
    expect(status).toEqual({ kind: 'exited', code: 0 })
  })
})
