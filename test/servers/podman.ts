/** A real container engine for tests: Podman's service on a socket and a storage of its own. */
import { type ChildProcess, execFile, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { sleep, systemClock } from '../../src/clock.ts'
import { createEngine } from '../../src/sandbox/container/engine.ts'
import { whyNotRuntime } from './wanted-runtime.ts'

export interface Podman {
  readonly socket: string
  /** An image with busybox whose entry point is the script; answers its name. */
  image(script: string): Promise<string>
  /** Pushes an image to `host:port/name:tag`; answers its digest. */
  push(image: string, target: string, credentials?: string): Promise<string>
  forget(image: string): Promise<void>
  /** Runs it from the command line, without a network, to its end. */
  run(image: string): Promise<void>
  /** Removes everything, containers that run included. */
  stop(): Promise<void>
}

/** Why there is no Podman for these tests; undefined where there is one. */
export function whyNoPodman(): string | undefined {
  return whyNotRuntime('container', findMissing)
}

function findMissing(): string | undefined {
  if (process.getuid?.() !== 0) return 'these tests need root'
  for (const program of ['podman', 'runc', 'busybox'])
    try {
      execFileSync('which', [program], { stdio: 'ignore' })
    } catch {
      return `there is no ${program}: install podman, runc and busybox-static`
    }
  return undefined
}

/** `insecure` are registries without TLS, as `host:port`. */
export async function startPodman({ insecure = [] }: { readonly insecure?: readonly string[] } = {}): Promise<Podman> {
  const folder = mkdtempSync(join(tmpdir(), 'purser-podman-'))
  // Limits that a container engine in a container may set, and the runtime that knows older cgroups.
  writeFileSync(
    join(folder, 'containers.conf'),
    `[containers]
default_ulimits=["nofile=20000:20000","nproc=32768:32768"]
[engine]
cgroup_manager="cgroupfs"
events_logger="file"
runtime="runc"
lock_type="file"
`,
  )
  writeFileSync(
    join(folder, 'registries.conf'),
    insecure.map(location => `[[registry]]\nlocation="${location}"\ninsecure=true\n`).join(''),
  )
  const env = {
    ...process.env,
    CONTAINERS_CONF: join(folder, 'containers.conf'),
    CONTAINERS_REGISTRIES_CONF: join(folder, 'registries.conf'),
  }
  const own = (name: string) => [`--${name}`, join(folder, name)]
  // Nothing shared with other engines of this machine, down to the locks: a reset of one would take the others' exit codes.
  const place = [...['root', 'runroot', 'tmpdir'].flatMap(own), '--storage-driver', 'vfs']
  const podman = (...args: string[]) => promisify(execFile)('podman', [...place, ...args], { env })
  const socket = join(folder, 'podman.sock')
  const base = await importBase(folder, podman)
  const service: ChildProcess = spawn('podman', [...place, 'system', 'service', '--time=0', `unix://${socket}`], {
    env,
    stdio: 'ignore',
  })
  while (!existsSync(socket)) {
    if (service.exitCode !== null) throw new Error(`podman's service ended with exit code ${service.exitCode}`)
    await sleep(systemClock, 20)
  }
  await podman('create', '--name', 'base', base, 'true')
  const images = new Map<string, string>()
  return {
    socket,
    async image(script) {
      const known = images.get(script)
      if (known !== undefined) return known
      const tag = `${images.size + 1}`
      const entrypoint = JSON.stringify(['/bin/sh', '-c', script, 'entrypoint'])
      const query = new URLSearchParams({ container: 'base', repo, tag, changes: `ENTRYPOINT ${entrypoint}` })
      const made = await createEngine(socket).call('POST', `/commit?${query}`, { body: {} })
      if (made.status !== 201) throw new Error(`no image was made: ${made.status} ${await made.problem()}`)
      made.stream.resume()
      images.set(script, `${repo}:${tag}`)
      return `${repo}:${tag}`
    },
    async push(image, target, credentials) {
      const login = credentials === undefined ? [] : ['--creds', credentials]
      await podman('push', ...login, '--digestfile', join(folder, 'digest'), image, `docker://${target}`)
      return readFileSync(join(folder, 'digest'), 'utf8').trim()
    },
    async forget(image) {
      await podman('rmi', '--force', image)
    },
    async run(image) {
      await podman('run', '--rm', '--network', 'none', image)
    },
    async stop() {
      await podman('rm', '--all', '--force', '--time', '0').catch(() => undefined)
      service.kill('SIGKILL')
      await once(service, 'exit')
      await podman('system', 'reset', '--force').catch(() => undefined)
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

const repo = 'localhost/purser-test'

async function importBase(folder: string, podman: (...args: string[]) => Promise<unknown>): Promise<string> {
  const tree = join(folder, 'tree')
  for (const part of ['bin', 'tmp', 'run/bundle', 'proc', 'etc']) mkdirSync(join(tree, part), { recursive: true })
  chmodSync(join(tree, 'tmp'), 0o1777)
  const busybox = execFileSync('which', ['busybox'], { encoding: 'utf8' }).trim()
  copyFileSync(busybox, join(tree, 'bin', 'busybox'))
  chmodSync(join(tree, 'bin', 'busybox'), 0o755)
  const names = execFileSync(busybox, ['--list'], { encoding: 'utf8' }).trim().split('\n')
  for (const name of names) if (name !== 'busybox') symlinkSync('busybox', join(tree, 'bin', name))
  execFileSync('tar', ['-C', tree, '-cf', join(folder, 'base.tar'), '.'])
  await podman('import', join(folder, 'base.tar'), 'localhost/purser-test-base:1')
  return 'localhost/purser-test-base:1'
}
