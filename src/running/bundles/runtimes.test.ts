import { describe, expect, it } from 'vitest'
import { findSocket } from './runtimes.ts'

const [podman, own, docker] = ['/run/podman/podman.sock', '/run/user/7/podman/podman.sock', '/var/run/docker.sock']

describe('findSocket', () => {
  it.each([
    [{ DOCKER_HOST: 'unix:///tmp/engine.sock' }, ['/tmp/engine.sock', podman], '/tmp/engine.sock'],
    [{ DOCKER_HOST: 'tcp://10.0.0.1:2375' }, [docker], docker],
    [{}, [podman, docker], podman],
    [{ XDG_RUNTIME_DIR: '/run/user/7' }, [own, docker], own],
    [{ XDG_RUNTIME_DIR: '' }, [docker], docker],
    [{ DOCKER_HOST: 'unix:///tmp/engine.sock' }, [], '/tmp/engine.sock'],
    [{}, [], podman],
  ])('with %j and %j takes %s', (env, present, found) => {
    expect(findSocket(env, path => present.includes(path))).toBe(found)
  })
})
