import { execFileSync } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { RegistryAnswer } from '../../src/registry.ts'
import { specText } from './push.ts'
import { ask, registryFor } from './settings-for.ts'

let root = ''
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'purser-directory-'))
})
afterEach(() => rmSync(root, { recursive: true, force: true }))

const path = (name: string) => join(root, 'bundles', name)
const put = (name: string, content: string) => {
  mkdirSync(dirname(path(name)), { recursive: true })
  writeFileSync(path(name), content)
}
const list = (more: Readonly<Record<string, unknown>> = {}) => ask({ path: join(root, 'bundles'), ...more })
const digests = (answer: RegistryAnswer) => (answer.kind === 'failed' ? [] : answer.found.map(({ digest }) => digest))

describe('a directory of bundles', () => {
  it('lists the folders that have a spec', async () => {
    put('pg/bundle.yml', specText('pg'))
    put('pg/bin/run', '#!/bin/sh')
    put('old/apb.yml', specText('old'))
    put('notes/readme.md', 'no bundle')
    put('.git/bundle.yml', specText('hidden'))
    put('bundle.yml', specText('no folder'))
    expect(await list()).toEqual({
      kind: 'complete',
      found: ['old', 'pg'].map(name => ({
        name,
        image: path(name),
        tag: '',
        digest: expect.stringMatching(/^sha256:[0-9a-f]{64}$/),
        source: specText(name),
        runtime: 2,
      })),
      problems: [],
    })
  })

  it('applies the lists to the names of folders', async () => {
    for (const name of ['a-apb', 'b-apb', 'c']) put(`${name}/apb.yml`, specText(name))
    const answer = await list({ white_list: ['-apb$'], black_list: ['^b'] })
    expect(answer).toMatchObject({ kind: 'complete', found: [{ name: 'a-apb' }] })
  })

  it('prefers bundle.yml', async () => {
    put('pg/bundle.yml', specText('new'))
    put('pg/apb.yml', specText('old'))
    expect(await list()).toMatchObject({ found: [{ source: specText('new') }] })
  })

  it('gives each version a digest of its own, and the same version the same one', async () => {
    put('pg/bundle.yml', specText('pg'))
    put('pg/bin/run', 'one')
    put('pg/bin/two', '')
    const steps = [
      () => writeFileSync(path('pg/bin/run'), 'two'),
      () => chmodSync(path('pg/bin/run'), 0o755),
      () => renameSync(path('pg/bin/two'), path('pg/bin/three')),
      () => symlinkSync('run', path('pg/bin/link')),
      () => writeFileSync(path('pg/bundle.yml'), specText('pg2')),
    ]
    const seen = digests(await list())
    expect(digests(await list())).toEqual(seen)
    for (const step of steps) {
      step()
      seen.push(...digests(await list()))
    }
    expect(new Set(seen).size).toBe(steps.length + 1)
  })

  it('refuses links that lead out of a bundle, and names them', async () => {
    writeFileSync(join(root, 'secret'), 'x')
    put('bad/bundle.yml', specText('bad'))
    put('good/bundle.yml', specText('good'))
    symlinkSync('../../secret', path('bad/key'))
    symlinkSync('bundle.yml', path('good/copy.yml'))
    const answer = await list()
    expect(answer).toMatchObject({ kind: 'partial', found: [{ name: 'good' }] })
    expect(answer).toMatchObject({ problems: [expect.stringMatching(/^bad: key is a link that leads out/)] })
  })

  it.each([
    ['nowhere', 'gone', 'leads nowhere'],
    ['to itself', 'key', 'leads nowhere'],
  ])('refuses a link that leads %s', async (_, target, message) => {
    put('bad/bundle.yml', specText('bad'))
    symlinkSync(target, path('bad/key'))
    expect(await list()).toMatchObject({ kind: 'partial', found: [], problems: [expect.stringContaining(message)] })
  })

  it('refuses a link out that only looks as if it stayed inside', async () => {
    put('bad/bundle.yml', specText('bad'))
    put('bundle.yml', 'beside')
    symlinkSync('.', path('bad/self'))
    symlinkSync('self/../bundle.yml', path('bad/key'))
    expect(await list()).toMatchObject({
      kind: 'partial',
      problems: [expect.stringContaining('key is a link that leads out')],
    })
  })

  it('refuses a spec that is a link to elsewhere', async () => {
    writeFileSync(join(root, 'spec.yml'), specText('stolen'))
    mkdirSync(path('pg'), { recursive: true })
    symlinkSync(join(root, 'spec.yml'), path('pg/bundle.yml'))
    expect(await list()).toMatchObject({ kind: 'partial', found: [] })
  })

  it('refuses a folder that is a link to elsewhere, and follows one inside', async () => {
    mkdirSync(join(root, 'outside'))
    writeFileSync(join(root, 'outside/bundle.yml'), specText('outside'))
    put('real/bundle.yml', specText('real'))
    symlinkSync(join(root, 'outside'), path('away'))
    symlinkSync('real', path('alias'))
    const answer = await list()
    expect(answer).toMatchObject({ kind: 'partial', found: [{ name: 'alias' }, { name: 'real' }] })
    expect(answer).toMatchObject({ problems: [expect.stringMatching(/^away: it is a link that leads out/)] })
  })

  it('is not held up by what is not a file', async () => {
    put('pg/bundle.yml', specText('pg'))
    execFileSync('mkfifo', [path('pg/pipe')])
    expect(await list()).toMatchObject({
      kind: 'partial',
      problems: [expect.stringContaining('pipe is neither a file')],
    })
  })

  it('has failed where there is no folder: nothing is gone', async () => {
    expect(await list()).toEqual({ kind: 'failed', problem: expect.stringContaining('cannot be read (ENOENT)') })
  })

  it('has failed where it was stopped', async () => {
    put('pg/bundle.yml', specText('pg'))
    const answer = await registryFor({ path: join(root, 'bundles') }).list(AbortSignal.abort())
    expect(answer.kind).toBe('failed')
  })
})
