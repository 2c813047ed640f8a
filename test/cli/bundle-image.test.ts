import { chmod, readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Podman, startPodman, whyNoPodman } from '../external/podman.ts'
import { runNode, useBuiltPackage } from './built-package.ts'
import { makeFolder } from './test-io.ts'

const built = useBuiltPackage()
const reason = whyNoPodman()

describe.skipIf(reason !== undefined)(`purser bundle run --image${reason === undefined ? '' : ` (${reason})`}`, () => {
  let podman: Podman
  beforeAll(async () => {
    podman = await startPodman()
  })
  afterAll(() => podman?.stop())

  it('runs the image in a container, with what the folder says about it', async () => {
    const cwd = await makeFolder()
    const temporary = await makeFolder()
    await chmod(temporary, 0o755)
    await writeFile(
      join(cwd, 'bundle.yml'),
      `version: 1.0
name: db
description: A database
bindable: true
async: optional
plans: [{ name: small, description: Small, free: true, parameters: [{ name: size, type: int, default: 3 }] }]
`,
    )
    const image = await podman.image(
      'echo making it >$BUNDLE_OUTPUT/progress; grep -o "size.:[0-9]*" $BUNDLE_INPUT; echo \'{"host":"db-1"}\' >$BUNDLE_OUTPUT/credentials.json',
    )
    const env = { DOCKER_HOST: `unix://${podman.socket}`, TMPDIR: temporary }
    const run = (...args: readonly string[]) => runNode(built.bin, ['bundle', 'run', ...args], { cwd, env })
    const provisioned = await run('provision', '--param', 'size=7', '--image', image, '--output', 'json')
    expect(JSON.parse(provisioned.out)).toEqual({
      action: 'provision',
      instance: 'dev',
      plan: 'small',
      credentials: ['host'],
    })
    expect(provisioned.err).toContain('size":7\n')
    expect(provisioned.code).toBe(0)
    expect(await readdir(temporary)).toEqual([])
    expect(await run('provision', '--image', 'localhost/purser-none:1')).toMatchObject({ code: 1 })
    expect(await readdir(temporary)).toEqual([])
  })

  it('says that there is no engine', async () => {
    const cwd = await makeFolder()
    expect(await runNode(built.bin, ['bundle', 'init', '.'], { cwd })).toMatchObject({ code: 0 })
    const env = { DOCKER_HOST: 'unix:///nowhere/engine.sock', XDG_RUNTIME_DIR: '' }
    const { code, err } = await runNode(built.bin, ['bundle', 'run', 'provision', '--image', 'a:1'], { cwd, env })
    expect(err).toMatch(/why: the container engine at \S+ does not answer/)
    expect(err).toContain('next: Start the container engine')
    expect(code).toBe(1)
  })
})
