import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer as createHttpServer } from 'node:http'
import { createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, vi } from 'vitest'
import { systemClock } from '../../src/clock.ts'
import { createContainerRuntime } from '../../src/sandbox/container/container-runtime.ts'
import { createContainers } from '../../src/sandbox/container/containers.ts'
import { createEngine } from '../../src/sandbox/container/engine.ts'
import { placesInside, toContainer, type UserNamespace } from '../../src/sandbox/container/to-container.ts'
import { foldersOf } from '../../src/sandbox/folders.ts'
import { layOut } from '../../src/sandbox/inputs.ts'
import type { Runtime } from '../../src/sandbox.ts'
import { until } from '../../src/testing/sandbox-contract/subject.ts'
import { sandboxUser } from '../external/container-engine.ts'
import { quickClock } from './clocks.ts'
import { containerSpec, plainImage } from './container-cases.ts'

describe('a container engine that is not there', () => {
  it('is neither gone nor done', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'purser-containers-'))
    try {
      const runtime = createContainerRuntime({
        socket: '/nowhere/docker.sock',
        folder,
        user: sandboxUser,
        clock: systemClock,
      })
      expect(await runtime.status('operation-1')).toMatchObject({ kind: 'unknown' })
      expect(await runtime.wait('operation-1', new AbortController().signal)).toMatchObject({ kind: 'unknown' })
      for (const call of [() => runtime.remove('operation-1'), runtime.list, () => runtime.start(containerSpec('any'))])
        await expect(call()).rejects.toMatchObject({ name: 'RuntimeUnavailableError' })
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  })

  it.each([
    ['says nothing', () => undefined],
    ['is cut in the middle', (socket: Socket) => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{"State":')],
  ])('does not make a container run or end when its answer %s', async (_, answer) => {
    const folder = mkdtempSync(join(tmpdir(), 'purser-containers-'))
    const server = createServer(socket => void socket.once('data', () => answer(socket)).on('error', () => undefined))
    await once(server.listen(join(folder, 'socket')), 'listening')
    try {
      const asked = createContainers(createEngine(join(folder, 'socket'), 100), folder, systemClock).find('operation-1')
      await expect(asked).rejects.toMatchObject({ name: 'RuntimeUnavailableError' })
    } finally {
      server.close()
      rmSync(folder, { recursive: true, force: true })
    }
  })
})

describe('Podman, while the process of a container ends', () => {
  const running = { Id: '1', State: { Status: 'running', ExitCode: 0, StartedAt: '2026-11-18T16:00:00Z' } }
  const ended = { Id: '1', State: { Status: 'exited', ExitCode: 0, StartedAt: '2026-11-18T16:00:00Z' } }
  // Podman 4.3 says so.
  const fault = { message: 'read /proc/9479/cgroup: no such process' }

  /** Answers the looks in their order, the last one for ever, and no other call. */
  async function withLooks(looks: readonly object[], use: (runtime: Runtime) => Promise<void>): Promise<void> {
    const folder = mkdtempSync(join(tmpdir(), 'purser-containers-'))
    const socket = join(folder, 'socket')
    const left = [...looks]
    const server = createHttpServer(({ url = '', method }, answer) => {
      if (url.endsWith('/_ping')) return answer.setHeader('api-version', '1.41').end()
      const body = method === 'GET' ? (left.length > 1 ? left.shift() : left[0]) : fault
      return answer.writeHead(body === fault ? 500 : 200).end(JSON.stringify(body))
    })
    await once(server.listen(socket), 'listening')
    try {
      await use(createContainerRuntime({ socket, folder, user: sandboxUser, clock: quickClock(100) }))
    } finally {
      server.close()
      rmSync(folder, { recursive: true, force: true })
    }
  }

  it('is asked again', () =>
    withLooks([fault, fault, ended], async runtime => {
      const status = await runtime.wait('operation-1', new AbortController().signal)
      expect(status).toEqual({ kind: 'exited', code: 0 })
    }))

  it('is believed when it goes on', () =>
    withLooks([fault], async runtime => {
      const status = await runtime.wait('operation-1', new AbortController().signal)
      expect(status).toEqual({ kind: 'unknown', reason: expect.stringContaining('no such process') })
    }))

  it('cannot stop it, which has ended', () =>
    withLooks([running, fault, ended], async runtime => runtime.cancel('operation-1', 0)))

  it('has a fault where it cannot stop one that runs', () =>
    withLooks([running], async runtime => {
      await expect(runtime.cancel('operation-1', 0)).rejects.toMatchObject({ name: 'RuntimeUnavailableError' })
    }))
})

describe('an engine that does not come to an end', () => {
  it('is not waited for when nobody wants the image any more', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'purser-containers-'))
    const stopped = new AbortController()
    const server = createServer(socket => {
      socket.once('data', () => stopped.abort(new Error('stopped'))).on('error', () => undefined)
    })
    await once(server.listen(join(folder, 'socket')), 'listening')
    try {
      const runtime = createContainerRuntime({
        socket: join(folder, 'socket'),
        folder,
        user: sandboxUser,
        clock: systemClock,
      })
      const prepared = runtime.prepare({ kind: 'image', image: 'any', pull: 'always' }, stopped.signal)
      await expect(prepared).rejects.toThrow('stopped')
    } finally {
      server.close()
      rmSync(folder, { recursive: true, force: true })
    }
  })
})

describe('an engine that is asked what it is, by others than root', () => {
  it.each([
    ['Podman', { SecurityOptions: ['name=seccomp,profile=default'], Rootless: false }, 'own'],
    ['a rootless Podman', { SecurityOptions: [], Rootless: true }, 'keep-id'],
    ['a later rootless Podman', { SecurityOptions: ['name=rootless'], Rootless: true }, 'keep-id'],
    ['Docker', { SecurityOptions: ['name=seccomp,profile=default'] }, 'own'],
    ['a rootless Docker', { SecurityOptions: ['name=rootless'] }, undefined],
  ])('%s', async (_, info, namespace) => {
    const folder = mkdtempSync(join(tmpdir(), 'purser-containers-'))
    const socket = join(folder, 'socket')
    const asked: string[] = []
    const server = createHttpServer(({ url = '' }, answer) => {
      asked.push(url)
      answer.setHeader('api-version', '1.47').end(JSON.stringify(info))
    })
    await once(server.listen(socket), 'listening')
    const getuid = vi.spyOn(process, 'getuid').mockReturnValue(1000)
    try {
      const { findUserNamespace: find } = createContainers(createEngine(socket), folder, systemClock)
      if (namespace === undefined) await expect(find()).rejects.toThrow('use Docker itself, or Podman')
      else expect([await find(), await find()]).toEqual([namespace, namespace])
      expect(asked).toEqual(['/_ping', '/v1.47/info'])
    } finally {
      getuid.mockRestore()
      server.close()
      rmSync(folder, { recursive: true, force: true })
    }
  })
})

it('lets a user be the same inside, where that is asked for', () => {
  const spec = containerSpec('any')
  const folders = foldersOf('/sandboxes', spec.name)
  const hostOf = (userNamespace: UserNamespace) =>
    toContainer(spec, layOut(spec.inputs, placesInside), {
      image: plainImage,
      user: sandboxUser,
      owner: '/sandboxes',
      folders,
      userNamespace,
    }).HostConfig
  expect(hostOf('keep-id')).toMatchObject({ UsernsMode: 'keep-id' })
  expect(hostOf('own').UsernsMode).toBeUndefined()
})

it('agrees on a version again when another engine has come in the place of one', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'purser-containers-'))
  const socket = join(folder, 'socket')
  const asked: string[] = []
  const listen = async (version: string) => {
    const server = createHttpServer(({ url = '' }, answer) => {
      asked.push(url)
      answer.setHeader('api-version', version).end('{}')
    })
    await once(server.listen(socket), 'listening')
    return server
  }
  try {
    const engine = createEngine(socket)
    const ask = async () => void (await engine.call('GET', '/images/json')).stream.resume()
    const first = await listen('1.47')
    await ask()
    first.closeAllConnections()
    await once(first.close(), 'close')
    await expect(ask()).rejects.toMatchObject({ name: 'RuntimeUnavailableError' })
    const second = await listen('1.41')
    // A connection to the first one may still be kept.
    await until(async () =>
      ask().then(
        () => true,
        () => false,
      ),
    )
    second.closeAllConnections()
    second.close()
    expect(asked).toEqual(['/_ping', '/v1.47/images/json', '/_ping', '/v1.41/images/json'])
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})
