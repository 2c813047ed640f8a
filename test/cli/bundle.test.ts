import { chmod, mkdir, readdir, readFile, stat, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { runNode, useBuiltPackage } from './built-package.ts'
import { makeFolder, runCli } from './test-io.ts'

const built = useBuiltPackage()

const spec = `version: 1.0
name: db
description: A database
bindable: true
async: optional
plans:
  - name: small
    description: Small
    free: true
    updates_to: [large]
    parameters:
      - { name: size, type: int, default: 3, minimum: 1 }
      - { name: admin_password, type: string, required: true, sensitive: true }
  - name: large
    description: Large
    free: true
    parameters:
      - { name: size, type: int, default: 30, updatable: true }
      - { name: admin_password, type: string, required: true, sensitive: true }
`

async function makeBundle(script: string, text = spec): Promise<string> {
  const folder = await makeFolder()
  await chmod(folder, 0o755)
  await writeFile(join(folder, 'bundle.yml'), text)
  await writeFile(join(folder, 'entrypoint.sh'), `#!/bin/sh\n${script}\n`, { mode: 0o755 })
  return folder
}

function purser(cwd: string, ...args: readonly string[]) {
  return runNode(built.bin, ['bundle', ...args], { cwd })
}

describe('purser bundle init', () => {
  it('writes a bundle that passes the lint and runs, action by action', async () => {
    const cwd = await makeFolder()
    const made = await purser(cwd, 'init', 'My Bundle')
    expect(made).toMatchObject({ code: 0 })
    expect(made.err).toContain("purser bundle run provision 'My Bundle'")
    const folder = join(cwd, 'My Bundle')
    expect((await readdir(folder)).toSorted()).toEqual(['.gitignore', 'Containerfile', 'bundle.yml', 'entrypoint.sh'])
    expect(await readFile(join(folder, '.gitignore'), 'utf8')).toContain('.bundle-run.json')
    expect(await purser(folder, 'lint', '.')).toEqual({ code: 0, out: '.: can be used\n', err: '' })

    const provisioned = await purser(folder, 'run', 'provision', '--param', 'greeting=Good day')
    expect(provisioned).toEqual({
      code: 0,
      out: 'action    provision\ninstance  dev\nplan      default\nstate     greeting\n',
      err: expect.stringContaining('provision: choosing a greeting\n'),
    })
    const bound = await purser(folder, 'run', 'bind', '--show-credentials', '--output', 'json')
    expect(JSON.parse(bound.out)).toEqual({
      action: 'bind',
      instance: 'dev',
      binding: 'dev',
      plan: 'default',
      credentials: { greeting: 'Good day', password: expect.stringMatching(/^[0-9a-f]{32}$/) },
    })
    const file = join(folder, '.bundle-run.json')
    expect((await stat(file)).mode & 0o777).toBe(0o600)
    for (const action of ['update', 'unbind', 'deprovision']) {
      const { code, out } = await purser(folder, 'run', action, '--output', 'json')
      expect({ code, action: JSON.parse(out).action }).toEqual({ code: 0, action })
    }
    expect(JSON.parse(await readFile(file, 'utf8'))).toMatchObject({ instances: {} })
    expect(await purser(folder, 'run', 'test')).toMatchObject({
      code: 0,
      out: 'passed: passwords are long\naction    test\ninstance  dev\nplan      default\npassed    true\n',
    })
  })

  it('overwrites nothing', async () => {
    const cwd = await makeFolder()
    await writeFile(join(cwd, 'bundle.yml'), 'mine')
    const { code, err } = await runCli(['bundle', 'init'], { cwd })
    expect(err).toContain('why: these files would be overwritten: bundle.yml\n')
    expect(code).toBe(2)
    expect(await readdir(cwd)).toEqual(['bundle.yml'])
  })
})

describe('purser bundle lint', () => {
  it('tells every problem of every bundle with its place', async () => {
    const cwd = await makeFolder()
    await mkdir(join(cwd, 'good'))
    await writeFile(join(cwd, 'good', 'apb.yml'), spec)
    await writeFile(join(cwd, 'good', 'Dockerfile'), 'FROM scratch\n')
    await mkdir(join(cwd, 'bad'))
    await writeFile(join(cwd, 'bad', 'bundle.yml'), spec.replace('type: int, default: 3', 'type: whole, default: 3'))
    await writeFile(join(cwd, 'bad', 'entrypoint.sh'), 'echo\r\n')
    await symlink('/etc/hostname', join(cwd, 'bad', 'out'))
    await symlink(join(cwd, 'bad', 'bundle.yml'), join(cwd, 'bad', 'absolute'))
    await symlink('nowhere', join(cwd, 'bad', 'broken'))
    const { code, out, err } = await runCli(['bundle', 'lint', 'good', 'bad', 'good/apb.yml'], { cwd })
    expect(out.split('\n')).toEqual([
      'good/entrypoint.sh: warning: is missing, so the bundle can be run as an image only',
      'good: can be used, 1 warning',
      expect.stringMatching(/^bad\/bundle\.yml:12: plans\[0\]\.parameters\[0\]\.type: error: /),
      'bad/entrypoint.sh: error: is not executable; run chmod +x on it',
      'bad/entrypoint.sh: error: has no #! line; begin it with #!/bin/sh, or another program',
      'bad/absolute: error: is a link with an absolute path; make it relative',
      'bad/broken: error: is a link that leads nowhere; remove it',
      'bad/out: error: is a link that leads out of the bundle; put the file itself there',
      'bad: 6 errors',
      'good/apb.yml: can be used',
      '',
    ])
    expect(err).toContain('error: bad cannot be used\n  why: 6 errors, listed above\n')
    expect(code).toBe(1)
  })

  it('tells the same as JSON', async () => {
    const cwd = await makeFolder()
    await writeFile(join(cwd, 'bundle.yml'), spec)
    const { code, out } = await runCli(['bundle', 'lint', '.', '--output', 'json'], { cwd })
    expect(JSON.parse(out)).toEqual({
      error: '. cannot be used',
      why: '1 error, listed above',
      next: 'Correct them and run it again.',
      ok: false,
      bundles: [
        {
          path: '.',
          ok: false,
          problems: [
            {
              severity: 'error',
              where: 'entrypoint.sh',
              path: '',
              problem: 'is missing; add it, or name another "entrypoint" in the spec',
            },
          ],
        },
      ],
    })
    expect(code).toBe(1)
  })

  it('is wrong usage where there is no bundle', async () => {
    const cwd = await makeFolder()
    expect(await runCli(['bundle', 'lint', '.'], { cwd })).toMatchObject({
      code: 2,
      err: expect.stringContaining('why: it has neither bundle.yml nor apb.yml'),
    })
    expect(await runCli(['bundle', 'lint', 'none'], { cwd })).toMatchObject({ code: 2 })
  })
})

describe('purser bundle run', () => {
  it('gives each action what a broker would, and keeps what it leaves', async () => {
    const cwd = await makeBundle(`case $1 in
provision) cat "$3" 2>/dev/null || cat "\${3#@}"; echo '{"host":"db-1"}' >"$BUNDLE_OUTPUT/credentials.json"
  echo '{"name":"n1"}' >"$BUNDLE_OUTPUT/state.json"; echo https://db.example.com >"$BUNDLE_OUTPUT/dashboard_url";;
update) cat "$BUNDLE_INPUT"; echo '{"name":null,"size":"30"}' >"$BUNDLE_OUTPUT/state.json";;
bind) exit 8;;
unbind) cat "$BUNDLE_INPUT";;
deprovision) ls "$BUNDLE_STATE";;
esac`)
    const provisioned = await purser(cwd, 'run', 'provision', '--param', 'admin_password=hunter2-secret')
    expect(provisioned).toMatchObject({
      code: 0,
      out: `action         provision
instance       dev
plan           small
dashboard_url  https://db.example.com
state          name
credentials    host
`,
    })
    // The sensitive one is cut out of what it printed, and the default is there.
    expect(provisioned.err).toMatch(/"admin_password":"\[redacted\]","size":3,.*"_apb_plan_id":"small"/)
    expect(provisioned.err).not.toContain('hunter2-secret')

    const updated = await purser(cwd, 'run', 'update', '--plan', 'large', '--param', 'size=31')
    expect(updated.err).toMatch(
      /"plan":\{"id":"\w+","name":"large"\},"parameters":\{"admin_password":"\[redacted\]","size":31\}/,
    )
    expect(updated.err).toMatch(
      /"previous":\{"plan":\{"id":"\w+","name":"small"\},"parameters":\{"admin_password":"\[redacted\]","size":3\}/,
    )
    expect(updated.out).toContain('state        size\n')

    const bound = await purser(cwd, 'run', 'bind', '--binding', 'app')
    expect(bound).toMatchObject({ code: 0, out: expect.stringContaining('credentials  host\n') })
    expect(bound.err).toContain('bind: the bundle does not implement it (exit code 8)\n')
    const unbound = await purser(cwd, 'run', 'unbind', '--binding', 'app')
    expect(unbound).toMatchObject({ code: 0, err: expect.stringContaining('"binding":{"id":"app"}') })
    expect((await purser(cwd, 'run', 'deprovision')).err).toBe('size\n')
  })

  it('tells how an action failed, and that its instance is left', async () => {
    const cwd = await makeBundle('echo trying; echo "no room" >"$BUNDLE_OUTPUT/message"; exit 3')
    const failed = await purser(cwd, 'run', 'provision', '--param', 'admin_password=x')
    expect(failed).toEqual({
      code: 1,
      out: '',
      err: `trying
error: provision failed
  why: no room
 next: The log above says more. purser bundle run deprovision removes what is left.
`,
    })
    expect(await purser(cwd, 'run', 'deprovision')).toMatchObject({ code: 1 })
    expect(await purser(cwd, 'run', 'update')).toMatchObject({ code: 1 })
  })

  it('tests an instance, or without one, and keeps nothing of it', async () => {
    const cwd = await makeBundle(`case $1 in
provision) echo '{"name":"n1"}' >"$BUNDLE_OUTPUT/state.json";;
test) cat "$BUNDLE_INPUT"; ls "$BUNDLE_STATE"; echo '{"name":"n2"}' >"$BUNDLE_OUTPUT/state.json"
  echo "0 it is there" >"$BUNDLE_OUTPUT/test-result"; [ ! -e wrong ] || echo "1 it is slow" >>"$BUNDLE_OUTPUT/test-result"
  [ ! -e broken ] || exit 3;;
esac`)
    // What users must give is not required of a test, which has values of its own; what is given is checked.
    const alone = await purser(cwd, 'run', 'test', '--plan', 'large', '--output', 'json')
    expect(alone.err).toMatch(/"name":"large"\},"parameters":\{"size":30\}/)
    expect(JSON.parse(alone.out)).toEqual({
      action: 'test',
      instance: 'dev',
      plan: 'large',
      passed: true,
      results: [{ fail: false, message: 'it is there' }],
    })
    expect(await readdir(cwd)).not.toContain('.bundle-run.json')
    expect(await purser(cwd, 'run', 'test', '--param', 'size=none')).toMatchObject({ code: 2 })

    await purser(cwd, 'run', 'provision', '--param', 'size=7', '--param', 'admin_password=hunter2-secret')
    const file = join(cwd, '.bundle-run.json')
    const before = await readFile(file, 'utf8')
    const known = await purser(cwd, 'run', 'test')
    expect(known.err).toMatch(/"parameters":\{"size":7,"admin_password":"\[redacted\]"\}/)
    expect(known.err).toContain('name\n')
    expect(await purser(cwd, 'run', 'test', '--plan', 'large')).toMatchObject({
      code: 2,
      err: expect.stringContaining('--plan cannot be used with the test of instance dev'),
    })
    await writeFile(join(cwd, 'wrong'), '')
    expect(await purser(cwd, 'run', 'test')).toMatchObject({
      code: 1,
      out: 'passed: it is there\nfailed: it is slow\naction    test\ninstance  dev\nplan      small\npassed    false\n',
      err: expect.stringContaining('error: the test failed\n  why: it is slow\n'),
    })
    await writeFile(join(cwd, 'broken'), '')
    const broken = await purser(cwd, 'run', 'test', '--output', 'json')
    expect(broken.code).toBe(1)
    expect(JSON.parse(broken.out)).toMatchObject({
      error: 'test failed',
      why: 'The bundle ended with exit code 3.',
      results: [{ fail: false }, { fail: true }],
    })
    expect(await readFile(file, 'utf8')).toBe(before)
  })

  it('says that a bundle has no test', async () => {
    const cwd = await makeBundle('exit 8')
    expect(await purser(cwd, 'run', 'test')).toMatchObject({
      code: 1,
      err: expect.stringContaining('why: The bundle has no test.\n'),
    })
  })

  it('runs again what asks for it, with the secrets of the operator in place of parameters', async () => {
    const cwd = await makeBundle('[ -e done ] || exit 75; grep -c admin_password "$BUNDLE_INPUT"')
    await writeFile(join(cwd, 'secrets.yaml'), 'admin_password: top-secret\n')
    let stopped = false
    const running = runNode(built.bin, ['bundle', 'run', 'provision', '--secrets', 'secrets.yaml'], {
      cwd,
      onErr(text, kill) {
        if (!stopped && text.includes('run again later')) {
          stopped = true
          kill('SIGINT')
        }
      },
    })
    expect(await running).toMatchObject({ code: 130, err: expect.stringContaining('error: provision was stopped\n') })
    await writeFile(join(cwd, 'done'), '')
    expect(await purser(cwd, 'run', 'provision', '--secrets', 'secrets.yaml')).toMatchObject({ code: 0, err: '1\n' })
    const given = ['--secrets', 'secrets.yaml', '--param', 'admin_password=mine']
    expect(await purser(cwd, 'run', 'provision', ...given)).toMatchObject({ code: 2 })
  })

  it('stops what takes too long, and leaves nothing of it', async () => {
    const cwd = await makeBundle('sleep 1000')
    const temporary = await makeFolder()
    await chmod(temporary, 0o755)
    const args = ['bundle', 'run', 'provision', '--param', 'admin_password=x', '--timeout', '1s']
    const { code, err } = await runNode(built.bin, args, { cwd, env: { TMPDIR: temporary } })
    expect(err).toContain(
      'why: The bundle took longer than its time limit and was stopped: its author may raise "timeouts" in its spec.\n',
    )
    expect(code).toBe(1)
    expect(await readdir(temporary)).toEqual([])
  })

  it.each([
    [['--plan', 'huge'], 'the bundle has no plan "huge"', 'its plans are small, large'],
    [['--param', 'admin_password=x', '--param', 'size=0'], 'the parameters are not valid', 'parameters.size: must be'],
    [[], 'the parameters are not valid', 'admin_password'],
    [['--secrets', 'none.yaml'], '--secrets names a file that cannot be used', 'cannot be read (ENOENT)'],
    [['--timeout', 'soon'], '--timeout is not a duration', ''],
  ])('refuses %j before anything runs', async (args, what, why) => {
    const cwd = await makeBundle('touch ran')
    const { code, err } = await runCli(['bundle', 'run', 'provision', ...args], { cwd })
    expect(err).toContain(what)
    expect(err).toContain(why)
    expect(code).toBe(2)
    expect((await readdir(cwd)).toSorted()).toEqual(['bundle.yml', 'entrypoint.sh'])
  })

  it.each([
    [['bind'], 'instance dev is not known'],
    [['deprovision', '--instance', 'a'], 'instance a is not known'],
    [['walk'], "value 'walk' is invalid"],
  ])('refuses %j', async (args, what) => {
    const cwd = await makeBundle('exit 0')
    expect(await runCli(['bundle', 'run', ...args], { cwd })).toMatchObject({
      code: 2,
      err: expect.stringContaining(what),
    })
  })

  it('says what is wrong with the cluster that manifests are made in', async () => {
    const cwd = await makeFolder()
    await runCli(['bundle', 'init', '--manifests', 'mine'], { cwd })
    const why = async (kubeconfig: string) => {
      const run = ['bundle', 'run', 'provision', 'mine']
      const { code, err } = await runCli(run, { cwd, env: { HOME: cwd, KUBECONFIG: kubeconfig } })
      expect([code, err]).toEqual([1, expect.stringMatching(/^error: provision failed$/m)])
      expect(err).toContain('next: Name a cluster that answers in KUBECONFIG, and run it again.')
      return /why: (.*)/.exec(err)?.[1]
    }
    expect(await why('')).toContain('No Kubernetes cluster is named.')
    expect(await why('/nope')).toContain('The kubeconfig /nope cannot be read')
    const kubeconfig = join(cwd, 'dead')
    const named = { clusters: [{ name: 'a', cluster: { server: 'https://127.0.0.1:1' } }], users: [{ name: 'a' }] }
    const contexts = [{ name: 'a', context: { cluster: 'a', user: 'a' } }]
    await writeFile(kubeconfig, JSON.stringify({ ...named, contexts, 'current-context': 'a' }))
    expect(await why(kubeconfig)).toContain('ECONNREFUSED')
  })

  it('refuses a spec that cannot be used, and a file that it did not write', async () => {
    const cwd = await makeBundle('exit 0', 'version: 1.0\nname: x\n')
    expect(await runCli(['bundle', 'run', 'provision'], { cwd })).toMatchObject({
      code: 1,
      err: expect.stringContaining('bundle.yml cannot be used'),
    })
    await writeFile(join(cwd, 'bundle.yml'), spec)
    await writeFile(join(cwd, '.bundle-run.json'), '{"instances": 1}')
    expect(await runCli(['bundle', 'run', 'provision'], { cwd })).toMatchObject({
      code: 1,
      err: expect.stringContaining('its content was not written by this version of purser'),
    })
  })
})

describe('purser bundle show', () => {
  it('shows the service, its plans and parameters, what runs, and the problems', async () => {
    const cwd = await makeBundle('exit 0', `${spec}    bind_parameters: [{ name: role, type: string, title: Role }]\n`)
    await writeFile(join(cwd, 'Dockerfile'), 'FROM scratch\n')
    await symlink('/etc/hostname', join(cwd, 'out'))
    const shown = await runCli(['bundle', 'show', '--registry', 'dh'], { cwd })
    expect(shown.out).toBe(`service           dh-db
id                c8c3876d92c508af810a8a046e109f50
description       A database
bindable          true
runs as a folder  entrypoint.sh
runs as an image  built with Dockerfile

PLAN   ID                                COST  BINDABLE  DESCRIPTION
small  e50f7ed33047e15c8c6a483d69ff3c31  free  yes       Small
large  543963fccb228b6c4dcdae0886dedc7c  free  yes       Large

PLAN   PARAMETER       TYPE     FOR                DEFAULT   TITLE
small  size            integer  provision          3
small  admin_password  string   provision          required
large  size            integer  provision, update  30
large  admin_password  string   provision          required
large  role            string   bind               -         Role

out: error: is a link that leads out of the bundle; put the file itself there
.: 1 error
`)
    expect(shown).toMatchObject({ code: 1, err: expect.stringContaining('why: it has errors, listed above\n') })
  })

  it('shows the same as JSON, as a catalog has it', async () => {
    const cwd = await makeBundle('exit 0')
    const { code, out } = await runCli(['bundle', 'show', 'bundle.yml', '--output', 'json'], { cwd })
    const { service, ...rest } = JSON.parse(out)
    expect({ code, ...rest }).toEqual({ code: 0, path: 'bundle.yml', ok: true, problems: [] })
    expect(service).toMatchObject({
      name: 'local-db',
      plans: [{ name: 'small', schemas: { service_instance: { create: {} } } }, { name: 'large' }],
    })
  })

  it('shows what is wrong where there is no service', async () => {
    const cwd = await makeBundle('exit 0', 'version: 1.0\nname: x\n')
    const { code, out, err } = await runCli(['bundle', 'show', '--output', 'json'], { cwd })
    expect({ code, ...JSON.parse(out) }).toMatchObject({ code: 1, ok: false })
    expect(JSON.parse(out).problems.length).toBeGreaterThan(0)
    expect(err).toContain('its spec has errors')
  })
})

describe('purser bundle build and push', () => {
  const fails = async (args: readonly string[], cwd: string, env = {}) => {
    const { code, err } = await runCli(['bundle', ...args], { cwd, env })
    return `${code} ${err}`
  }

  it('say that there is nothing to make an image with', async () => {
    const cwd = await makeBundle('exit 0')
    expect(await fails(['build'], cwd)).toContain('1 error: . has nothing to build an image with\n')
    await writeFile(join(cwd, 'Containerfile'), 'FROM scratch\n')
    expect(await fails(['build'], cwd, { PATH: cwd })).toContain('no folder of PATH has podman, buildah, docker\n')
    expect(await fails(['build', '--engine', 'docker'], cwd, { PATH: cwd })).toContain('2 error: there is no docker\n')
    expect(await fails(['push', 'docker.io/team/db'], cwd)).toContain('1 error: there is nothing to make an image with')
    expect(await fails(['build', 'bundle.yml'], cwd)).toContain('2 error: bundle.yml is not a folder\n')
  })

  it('refuse a name that no image can have, and show no password', async () => {
    const cwd = await makeBundle('exit 0', spec.replace('name: db', 'name: My DB'))
    await writeFile(join(cwd, 'Containerfile'), 'FROM scratch\n')
    expect(await fails(['build'], cwd)).toContain(
      '2 error: the name of the bundle, "My DB", cannot be that of an image\n',
    )
    expect(await fails(['build', '--tag', 'Team/db'], cwd)).toContain(
      '2 error: "Team/db" cannot be the name of an image\n',
    )
    expect(await fails(['push', 'team/db'], cwd)).toContain('2 error: "team/db" names no registry\n')
    const refused = await fails(['push', 'me:hunter2-secret@registry.example.com/db'], cwd)
    expect(refused).toContain('2 error: an image cannot have an @ in its name\n')
    expect(refused).not.toContain('hunter2-secret')
  })

  it('give the engine the labels, and tell what it said and did not say', async () => {
    const cwd = await makeBundle('exit 0')
    await writeFile(join(cwd, 'Dockerfile'), 'FROM scratch\n')
    const bin = await makeFolder()
    await writeFile(
      join(bin, 'buildah'),
      `#!/bin/sh
printf '%s\\n' "$@" >"${bin}/asked"
[ ! -e "${bin}/refuse" ] || { echo "no room" >&2; exit 125; }
while [ "$1" != --iidfile ]; do shift; done; echo sha256:1 >"$2"
`,
      { mode: 0o755 },
    )
    const env = { PATH: `${bin}:/usr/bin:/bin` }
    const made = await runCli(['bundle', 'build', '--engine', 'buildah', '--build-arg', 'A=1'], { cwd, env })
    expect(made.out).toBe(
      'image       localhost/db:latest\nimage_id    sha256:1\nengine      buildah\nbuilt_with  Dockerfile\n',
    )
    const asked = (await readFile(join(bin, 'asked'), 'utf8')).split('\n')
    expect(asked).toContain(`com.redhat.apb.spec=${Buffer.from(spec).toString('base64')}`)
    expect(asked).toContain('com.redhat.bundle.runtime=2')
    expect(asked).toContain('A=1')
    await writeFile(join(bin, 'refuse'), '')
    expect(await fails(['build', '--engine', 'buildah'], cwd, env)).toMatch(
      /1 .*error: buildah could not build the image\n {2}why: no room\n/s,
    )
    await writeFile(join(cwd, 'bundle.yml'), `${spec}_long: ${'x'.repeat(100_000)}\n`)
    expect(await fails(['build'], cwd, env)).toContain('the spec is too long for a label')
  })
})
