/** A real Docker for tests: a socket, a storage, a network and mounts of its own, so that nothing of it stays. */
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { sleep, systemClock } from '../../src/clock.ts'
import { type ContainerEngine, createImages, findMissing, loadImage, makeBase } from './container-engine.ts'
import { whyNotRuntime } from './wanted-runtime.ts'

/** Why there is no Docker for these tests; undefined where there is one. */
export function whyNoDocker(): string | undefined {
  return whyNotRuntime('docker', () =>
    process.getuid?.() !== 0
      ? 'its daemon needs root'
      : findMissing(['dockerd', 'docker', 'busybox'], 'docker.io and busybox-static'),
  )
}

/** With `host` it sees the servers of this machine, to pull from, and its containers have no network. */
export async function startDocker({
  network = 'own',
}: {
  readonly network?: 'own' | 'host'
} = {}): Promise<ContainerEngine> {
  const folder = mkdtempSync(join(tmpdir(), 'purser-docker-'))
  const socket = join(folder, 'docker.sock')
  const place = (option: string, name: string) => [`--${option}`, join(folder, name)]
  const daemon = spawn(
    'unshare',
    [
      ...(network === 'own'
        ? ['--net', '--mount', 'dockerd']
        : ['--mount', 'dockerd', '--bridge', 'none', '--iptables=false']),
      ...[...place('data-root', 'data'), ...place('exec-root', 'exec'), ...place('pidfile', 'pid')],
      ...['--host', `unix://${socket}`, '--storage-driver', 'vfs'],
    ],
    { stdio: ['ignore', 'ignore', 'pipe'] },
  )
  let said = ''
  daemon.stderr.setEncoding('utf8').on('data', text => {
    said = `${said}${text}`.slice(-2_000)
  })
  const docker = (...args: string[]) => promisify(execFile)('docker', ['--host', `unix://${socket}`, ...args])
  const stop = async () => {
    const gone = daemon.exitCode === null ? once(daemon, 'exit') : undefined
    daemon.kill('SIGTERM')
    await gone
    rmSync(folder, { recursive: true, force: true })
  }
  while (
    !(await docker('version').then(
      () => true,
      () => false,
    ))
  ) {
    if (daemon.exitCode !== null) {
      await stop()
      throw new Error(`dockerd ended with exit code ${daemon.exitCode}: ${said}`)
    }
    await sleep(systemClock, 50)
  }
  await makeBase(folder, docker)
  return {
    socket,
    image: createImages(socket),
    load: (archive, changes) => loadImage(docker, archive, changes),
    async forget(image) {
      await docker('rmi', '--force', image)
    },
    async stop() {
      const { stdout } = await docker('ps', '--all', '--quiet')
      const containers = stdout.split('\n').filter(id => id !== '')
      if (containers.length > 0) await docker('rm', '--force', ...containers)
      await stop()
    },
  }
}
