import { linkSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { collectOutputs, readProgress } from './outputs.ts'
import { tailBytes, tailOf } from './redact.ts'

let base: string
let folder: string
beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), 'purser-outputs-'))
  folder = join(base, 'output')
  mkdirSync(folder)
})
afterEach(() => rmSync(base, { recursive: true, force: true }))

describe('what a bundle left', () => {
  it('is not read through a second name of a file elsewhere', async () => {
    writeFileSync(join(base, 'secret'), '{"password":"sesame"}')
    linkSync(join(base, 'secret'), join(folder, 'credentials.json'))
    const outputs = await collectOutputs(folder, [])
    expect(outputs).toEqual({ problems: ['credentials.json is not a plain file of its own; write one'] })
  })

  it('is not read where the folder itself became a link', async () => {
    writeFileSync(join(folder, 'message'), 'elsewhere')
    symlinkSync(folder, join(base, 'link'))
    expect((await collectOutputs(join(base, 'link'), [])).message).toBeUndefined()
  })

  it('is not read where it is a folder, no UTF-8, no object, or nested without end', async () => {
    mkdirSync(join(folder, 'message'))
    writeFileSync(join(folder, 'dashboard_url'), Buffer.from([0xff, 0xfe]))
    writeFileSync(join(folder, 'credentials.json'), '[1]')
    writeFileSync(join(folder, 'state.json'), `${'{"a":'.repeat(5000)}1${'}'.repeat(5000)}`)
    const { problems, ...rest } = await collectOutputs(folder, [])
    expect(rest).toEqual({})
    expect(problems).toHaveLength(4)
  })

  it('has progress in its last whole line, however long the file', async () => {
    writeFileSync(join(folder, 'progress'), `${'x\n'.repeat(100_000)}half way\n\nalmo`)
    expect(await readProgress(folder, [])).toBe('half way')
  })

  it.each([
    ['credentials.json', '{"deep":[{"password":"open-sesame"}]}'],
    ['state.json', '{"list":["open-sesame"]}'],
    ['binding_state.json', '{"user":"open-sesame"}'],
  ])('shows in its progress nothing that it has made by then: %s', async (name, text) => {
    writeFileSync(join(folder, 'progress'), 'made open-sesame\n')
    expect(await readProgress(folder, [])).toBe('made open-sesame')
    writeFileSync(join(folder, name), text)
    expect(await readProgress(folder, [])).toBe('made [redacted]')
  })

  it('changes the state by keys that can be files', async () => {
    writeFileSync(join(folder, 'state.json'), '{"ok":"1","../up":"2","list":[1]}')
    const { state, problems } = await collectOutputs(folder, [])
    expect(state).toEqual({ ok: '1', list: '[1]' })
    expect(problems).toHaveLength(1)
  })
})

describe('the results of a test', () => {
  const resultsOf = async (text: string, secrets: readonly string[] = []) => {
    writeFileSync(join(folder, 'test-result'), text)
    const { testResults, problems } = await collectOutputs(folder, secrets)
    return { testResults, problems }
  }

  it('are lines with a sign and a message, which may go on below', async () => {
    expect(await resultsOf('0 it answers\r\n\n1\n  no answer\nfor a minute\n0\n')).toEqual({
      testResults: [
        { fail: false, message: 'it answers' },
        { fail: true, message: 'no answer for a minute' },
        { fail: false, message: '' },
      ],
      problems: [],
    })
    expect((await resultsOf('0 the token is open-sesame\n', ['open-sesame'])).testResults).toEqual([
      { fail: false, message: 'the token is [redacted]' },
    ])
  })

  it('are a problem where nobody can tell what they mean', async () => {
    expect(await resultsOf('ok\n')).toEqual({
      testResults: [],
      problems: [expect.stringContaining('test-result begins with neither 0 nor 1')],
    })
  })
})

describe('the end of a log', () => {
  it('shows no rest of a secret that was cut in two', () => {
    const text = `${'open-sesame'.slice(5)} and more\n${'line\n'.repeat(20)}`
    expect(tailOf(text, true, ['open-sesame'])).not.toContain('sesame')
  })

  it('hides a secret in every spelling', () => {
    const secret = 'a "b"\nsecond line/?'
    const text = [
      secret,
      JSON.stringify(secret),
      Buffer.from(secret).toString('base64'),
      encodeURIComponent(secret),
    ].join('|')
    expect(tailOf(text, false, [secret])).toBe('[redacted]|"[redacted]"|[redacted]|[redacted]')
  })

  it('is bounded', () => {
    const tail = tailOf(`${'ä'.repeat(tailBytes)}the end`, true, [])
    expect(Buffer.byteLength(tail)).toBeLessThanOrEqual(tailBytes + 2)
    expect(tail.endsWith('the end')).toBe(true)
  })
})
