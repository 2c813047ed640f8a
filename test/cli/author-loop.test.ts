import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { whyNoAnsible } from '../external/ansible.ts'
import { runNode, useBuiltPackage } from './built-package.ts'
import { makeFolder } from './test-io.ts'

const built = useBuiltPackage()
const noAnsible = await whyNoAnsible()

function purser(cwd: string, ...args: readonly string[]) {
  return runNode(built.bin, ['bundle', ...args], { cwd })
}

describe.skipIf(noAnsible !== undefined)(`purser bundle init --ansible${noAnsible ? ` (${noAnsible})` : ''}`, () => {
  it('writes a bundle that does the same as the one for a shell', async () => {
    const cwd = await makeFolder()
    const made = await purser(cwd, 'init', '--ansible', 'greeter')
    expect(made).toMatchObject({ code: 0 })
    const folder = join(cwd, 'greeter')
    expect(await readFile(join(folder, 'bundle.yml'), 'utf8')).toContain('name: "greeter"')
    expect((await readdir(join(folder, 'playbooks'))).toSorted()).toEqual(
      ['bind', 'deprovision', 'provision', 'test', 'unbind', 'update'].map(action => `${action}.yml`),
    )
    expect(await purser(folder, 'lint', '.')).toEqual({ code: 0, out: '.: can be used\n', err: '' })
    expect(await purser(folder, 'run', 'test')).toMatchObject({
      code: 0,
      out: expect.stringContaining('passed: the greeting is kept\n'),
    })
    expect(await purser(folder, 'run', 'provision', '--param', 'greeting=Good "day"')).toMatchObject({ code: 0 })
    const bound = await purser(folder, 'run', 'bind', '--show-credentials', '--output', 'json')
    expect(JSON.parse(bound.out)).toMatchObject({
      credentials: { greeting: 'Good "day"', password: expect.stringMatching(/^\w{32}$/) },
    })
    expect(bound.err).not.toContain(JSON.parse(bound.out).credentials.password)
    for (const action of ['update', 'test', 'unbind', 'deprovision'])
      expect({ action, ...(await purser(folder, 'run', action)) }).toMatchObject({ action, code: 0 })
  })
})
