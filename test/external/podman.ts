/** A real container engine for tests: Podman's service on a socket and a storage of its own. */
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { sleep, systemClock } from '../../src/clock.ts'
import { type ContainerEngine, createImages, findMissing, loadImage, makeBase } from './container-engine.ts'
import { whyNotRuntime } from './wanted-runtime.ts'

export interface Podman extends ContainerEngine {
  /** Pushes an image to `host:port/name:tag`; answers its digest. */
  push(image: string, target: string, credentials?: string): Promise<string>
  /** Runs it from the command line, without a network, to its end. */
  run(image: string): Promise<void>
  /** What podman and buildah need to work in the same storage. */
  readonly env: Readonly<Record<string, string>>
}

/** Why there is no Podman for these tests; undefined where there is one. */
export function whyNoPodman(): string | undefined {
  return whyNotRuntime('container', () =>
    process.getuid?.() === 0 || existsSync('/sys/fs/cgroup/cgroup.controllers')
      ? findMissing(['podman', 'runc', 'busybox'], 'podman, runc and busybox-static')
      : 'without root, containers are limited by cgroups of version 2 only',
  )
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
tmp_dir="${join(folder, 'tmpdir')}"
`,
  )
  writeFileSync(
    join(folder, 'registries.conf'),
    insecure.map(location => `[[registry]]\nlocation="${location}"\ninsecure=true\n`).join(''),
  )
  writeFileSync(
    join(folder, 'storage.conf'),
    `[storage]
driver="vfs"
graphroot="${join(folder, 'root')}"
runroot="${join(folder, 'runroot')}"
`,
  )
  const settings = {
    CONTAINERS_CONF: join(folder, 'containers.conf'),
    CONTAINERS_REGISTRIES_CONF: join(folder, 'registries.conf'),
    CONTAINERS_STORAGE_CONF: join(folder, 'storage.conf'),
    BUILDAH_ISOLATION: 'chroot',
  }
  const env = { ...process.env, ...settings }
  const own = (name: string) => [`--${name}`, join(folder, name)]
  // Nothing shared with other engines of this machine, down to the locks: a reset of one would take the others' exit codes.
  const place = [...['root', 'runroot', 'tmpdir'].flatMap(own), '--storage-driver', 'vfs']
  const podman = (...args: string[]) => promisify(execFile)('podman', [...place, ...args], { env })
  const socket = join(folder, 'podman.sock')
  await makeBase(folder, podman)
  const service: ChildProcess = spawn('podman', [...place, 'system', 'service', '--time=0', `unix://${socket}`], {
    env,
    stdio: 'ignore',
  })
  while (!existsSync(socket)) {
    if (service.exitCode !== null) throw new Error(`podman's service ended with exit code ${service.exitCode}`)
    await sleep(systemClock, 20)
  }
  return {
    socket,
    env: settings,
    image: createImages(socket),
    load: (archive, changes) => loadImage(podman, archive, changes),
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
