/** `purser bundle lint` and a sync of the same folder come to the same judgement, in the same words. */
import { cp, mkdir, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { createKnown, readReply } from '../../src/broker/registries/read-reply.ts'
import { createSpecCache } from '../../src/broker/registries/registered-catalog.ts'
import { makeFolder, runCli } from '../cli/test-io.ts'
import { registryFor } from './settings-for.ts'

const root = join(import.meta.dirname, '..', '..')
const sound = 'version: 1.0\nname: x\ndescription: d\nplans:\n  - name: p\n    description: p\n'
const parameter = (text: string) => `${sound}    parameters:\n      - { name: a, ${text} }\n`

/** By name: a spec, and what else is in the folder than a program that can be run. */
const fixtures: Readonly<Record<string, readonly [spec: string, more?: (folder: string) => Promise<unknown>]>> = {
  sound: [sound],
  'no-plans': ['version: 1.0\nname: x\ndescription: d\n'],
  'no-yaml': ['version: [1.0\n'],
  empty: [''],
  'two-documents': [`${sound}---\n${sound}`],
  'unknown-key': [`${sound}nonsense: 1\n`],
  'flaw-and-error': [`${parameter('type: strng')}nonsense: 1\n`],
  'unknown-type': [parameter('type: strng')],
  'bad-pattern': [parameter('type: string, pattern: "("')],
  'go-pattern': [parameter('type: string, pattern: "(?i)^a$"')],
  'bad-default': [parameter('type: string, pattern: "^a$", default: b')],
  'unfit-default': [parameter('type: int, default: five')],
  'bad-schema': [`${sound}    parameters: { type: object, properties: { n: { type: integer, default: five } } }\n`],
  'to-nowhere': [`${sound}    updates_to: [gone]\n`],
  'long-text': [sound.replace('description: d', `description: ${'d'.repeat(300)}`)],
  'bad-name': [sound.replace('name: x', 'name: "X y"')],
  'no-shebang': [sound, folder => writeFile(join(folder, 'entrypoint.sh'), 'exit 0\n', { mode: 0o755 })],
  'no-program': [`${sound}entrypoint: other.sh\n`],
  'not-executable': [
    `${sound}entrypoint: other.sh\n`,
    folder => writeFile(join(folder, 'other.sh'), '#!/bin/sh\n', { mode: 0o644 }),
  ],
  'absolute-link': [sound, folder => symlink(join(folder, 'bundle.yml'), join(folder, 'link'))],
}

it('bundle lint and a sync say the same of every bundle', { timeout: 60_000 }, async () => {
  const registryFolder = await makeFolder()
  for (const own of ['bundles/redis', 'bundles/postgres', 'bundles/ansible-redis', 'templates/bundle'])
    await cp(join(root, own), join(registryFolder, own.replace('/', '-')), { recursive: true })
  for (const [name, [spec, more]] of Object.entries(fixtures)) {
    const folder = join(registryFolder, name)
    await mkdir(folder)
    await writeFile(join(folder, 'bundle.yml'), spec)
    await writeFile(join(folder, 'entrypoint.sh'), '#!/bin/sh\n', { mode: 0o755 })
    await more?.(folder)
  }
  const registry = registryFor({ name: 'local', type: 'directory', path: registryFolder })
  const known = createKnown({
    stored: { version: 0, services: [], revisions: [] },
    uses: [],
    own: [],
    specs: createSpecCache(),
  })
  const reply = await readReply('local', await registry.list(new AbortController().signal), known)
  if (reply.kind === 'failed') throw new Error(reply.problem)
  expect(reply.problems).toEqual([])
  const judged = new Map(reply.found.map(found => [found.name, found]))
  expect(judged.size).toBe(Object.keys(fixtures).length + 4)
  const refused = new Set<boolean>()
  for (const [name, { parsed, problems = [], warnings = [] }] of judged) {
    const { out } = await runCli(['bundle', 'lint', name], { cwd: registryFolder })
    const lines = out.trimEnd().split('\n')
    const plain = (line: string) => line.replaceAll(`${name}/`, '').replaceAll(/^(bundle\.yml|apb\.yml|spec)/g, 'spec')
    const said = [...problems, ...warnings].map(plain)
    expect([name, said.sort()]).toEqual([name, lines.slice(0, -1).map(plain).sort()])
    expect([name, parsed === undefined]).toEqual([name, !lines.at(-1)?.includes('can be used')])
    refused.add(parsed === undefined)
  }
  expect(refused.size).toBe(2)
})
