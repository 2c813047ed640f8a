import { chmodSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { openKeyring } from '../../src/running/open-keyring.ts'
import { runServe } from '../../src/server/serve.ts'
import { readSettings, type Settings } from '../../src/settings/settings.ts'
import { testFolder } from '../store/sqlite-drivers.ts'

const key = Buffer.alloc(32, 1).toString('base64')
const place = ['instance', 'sealed', 'i'] as const
const open = (encryption: NonNullable<Settings['encryption']>) => openKeyring(readSettings({ encryption }).encryption)

describe('purser serve', () => {
  const serve = (store: string, env: Record<string, string> = {}) =>
    runServe({ store, command: 'purser', env, cwd: testFolder(), stdout: { write: () => true } })

  it.each(['postgres://clerk:hunter2@127.0.0.1:1/ledger', 'mongodb://clerk:hunter2@127.0.0.1:1/ledger'])(
    'refuses a server store without a key, and says what to do: %s',
    async store => {
      const refusal = await serve(store).then(
        () => undefined,
        error => error,
      )
      expect(refusal).toMatchObject({ name: 'StartError', next: expect.stringContaining('PURSER_ENCRYPTION_KEY') })
      expect(refusal.next).toContain('encryption.required to false')
      expect(refusal.message).not.toContain('hunter2')
    },
  )

  it.each<Record<string, string>>([{ PURSER_ENCRYPTION_REQUIRED: 'false' }, { PURSER_ENCRYPTION_KEY: key }])(
    'goes on where it is told to: %o',
    async env => {
      // The next thing that is wrong: there is no broker in this folder.
      const store = 'postgres://clerk@127.0.0.1:1/ledger'
      await expect(serve(store, env)).rejects.toThrow('There is no broker to serve.')
    },
  )

  it('shows nothing of a key that is wrong', async () => {
    const wrong = serve('memory:', { PURSER_ENCRYPTION_KEY: 'hunter2hunter2' })
    await expect(wrong).rejects.toThrow(/32 bytes as base64/)
    await expect(wrong).rejects.not.toThrow(/hunter2/)
  })
})

describe('the keys of the settings', () => {
  it('come from texts, files and programs; the first one is for new values', async () => {
    const file = join(testFolder(), 'key')
    writeFileSync(file, `${key}\n`, { mode: 0o600 })
    const command = [process.execPath, '-e', `console.log('${key}')`]
    const keys = [
      { label: 'of-a-file', file },
      { label: 'of-a-program', command },
      { label: 'written', key },
    ]
    const keyring = await open({ keys, key })
    expect(keyring).toMatchObject({
      current: 'of-a-file',
      labels: ['of-a-file', 'of-a-program', 'written', 'default'],
    })
    const sealed = (await open({ keys, current: 'of-a-program' }))?.seal('hush', place) ?? ''
    expect(sealed).toMatch(/^e1:of-a-program:/)
    expect(keyring?.unseal(sealed, place)).toBe('hush')
    expect(await open({})).toBeUndefined()
    expect((await open({ key }))?.current).toBe('default')
  })

  it('are refused where a file is open to everybody', async () => {
    const file = join(testFolder(), 'key')
    writeFileSync(file, key)
    chmodSync(file, 0o644)
    await expect(open({ keys: [{ label: 'a', file }] })).rejects.toThrow(`Everybody on this machine can use ${file}.`)
  })

  it.each([
    ['a program that fails', `process.stdout.write('${key}'); process.exit(3)`, '(3)'],
    ['a program that prints something else', `console.log('hunter2')`, 'not 32 bytes as base64'],
  ])('are refused from %s, without what it has printed', async (_what, script, message) => {
    const opened = open({ keys: [{ label: 'a', command: [process.execPath, '-e', script] }] })
    const { message: told } = await opened.then(
      () => new Error('it was opened'),
      error => error,
    )
    expect(told).toContain(message)
    expect(told).not.toMatch(/hunter2|AQEB/)
  })

  it.each<[NonNullable<Settings['encryption']>, string]>([
    [{ key, current: 'other' }, 'encryption.current'],
    [{ key, keys: [{ label: 'default', key }] }, 'encryption.key'],
    [{ keys: [{ label: 'a', key, command: ['x'] }] }, 'needs exactly one of key, file and command'],
    [{ keys: [{ label: 'a' }] }, 'needs exactly one of key, file and command'],
    [{ keys: [{ label: 'a:b', key }] }, 'label'],
  ])('are checked: %#', async (encryption, message) => {
    expect(() => readSettings({ encryption })).toThrow(message)
  })
})
