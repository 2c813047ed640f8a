import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { systemClock } from '../../src/clock.ts'
import { createContainerRuntime } from '../../src/sandbox/container/container-runtime.ts'
import { createContainers } from '../../src/sandbox/container/containers.ts'
import { createEngine } from '../../src/sandbox/container/engine.ts'
import { containerSpec } from './container-cases.ts'

const user = { uid: 65534, gid: 65534 }

describe('a container engine that is not there', () => {
  it('is neither gone nor done', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'purser-containers-'))
    try {
      const runtime = createContainerRuntime({ socket: '/nowhere/docker.sock', folder, user, clock: systemClock })
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
      const asked = createContainers(createEngine(join(folder, 'socket'), 100), folder).find('operation-1')
      await expect(asked).rejects.toMatchObject({ name: 'RuntimeUnavailableError' })
    } finally {
      server.close()
      rmSync(folder, { recursive: true, force: true })
    }
  })
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
      const runtime = createContainerRuntime({ socket: join(folder, 'socket'), folder, user, clock: systemClock })
      const prepared = runtime.prepare({ kind: 'image', image: 'any', pull: 'always' }, stopped.signal)
      await expect(prepared).rejects.toThrow('stopped')
    } finally {
      server.close()
      rmSync(folder, { recursive: true, force: true })
    }
  })
})
