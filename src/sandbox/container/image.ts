import { text } from 'node:stream/consumers'
import { RuntimeUnavailableError, type SandboxProgram, SandboxRefusedError } from '../../sandbox.ts'
import { createRedactor } from '../redact.ts'
import { brokenOff, type Engine, unavailable } from './engine.ts'

type ImageProgram = Extract<SandboxProgram, { readonly kind: 'image' }>

/** Throws where the program is none that a container can be made of. */
export function asImage(program: SandboxProgram): ImageProgram {
  if (program.kind === 'image') return program
  throw new SandboxRefusedError(
    'the container runtime runs images, and this bundle is a folder; use the process runtime',
  )
}

/** Sees to it that the engine has the image. */
export async function ensureImage(engine: Engine, program: ImageProgram, signal?: AbortSignal): Promise<void> {
  const { image, pull } = program
  try {
    // What a digest names never changes.
    if ((pull !== 'always' || image.includes('@sha256:')) && (await hasImage(engine, image, signal))) return
    if (pull === 'never')
      throw new SandboxRefusedError(
        'its image is not on this machine, and may not be pulled; load it, or allow pulling',
        { cause: new Error(`it is ${image}`) },
      )
    await pullImage(engine, program, signal)
  } catch (error) {
    signal?.throwIfAborted()
    throw error
  }
}

async function hasImage(engine: Engine, image: string, signal?: AbortSignal): Promise<boolean> {
  const found = await engine.call('GET', `/images/${encodeURIComponent(image)}/json`, { signal })
  if (found.status !== 200 && found.status !== 404) throw await unavailable(`looking for the image ${image}`, found)
  found.stream.resume()
  return found.status === 200
}

async function pullImage(engine: Engine, program: ImageProgram, signal?: AbortSignal): Promise<void> {
  const { image, credentials } = program
  const path = `/images/create?fromImage=${encodeURIComponent(image)}`
  const headers: Record<string, string> = credentials === undefined ? {} : { 'x-registry-auth': encode(credentials) }
  // Some engines answer only when the image is there.
  const answer = await engine.call('POST', path, { headers, signal, delay: longestPull })
  if (answer.status !== 200) throw cannotPull(program, answer.status, await answer.problem())
  const said = await text(answer.stream).catch(error => {
    throw brokenOff(`pulling the image ${image}`, error)
  })
  // The engine says 200 first and what went wrong later, in a line of its own.
  const [, problem] = /"error"\s*:\s*"((?:[^"\\]|\\.)*)"/.exec(said) ?? []
  if (problem !== undefined) throw cannotPull(program, 200, problem)
}

const longestPull = 3_600_000

/** Whether it is worth while to try again: engines tell a registry's "no" from its silence in words only. */
function cannotPull({ image, credentials }: ImageProgram, status: number, problem: string): Error {
  const safe = createRedactor(credentials === undefined ? [] : [credentials.password])(problem.slice(0, 500))
  const cause = new Error(`pulling ${image}: ${safe}`)
  if (status === 404 || /manifest unknown|name unknown|not found/i.test(problem))
    return new SandboxRefusedError('its image is not in its registry; correct the name of the image', { cause })
  if (/unauthorized|denied|authentication required|invalid username|no basic auth credentials/i.test(problem))
    return new SandboxRefusedError("its image may not be pulled; correct the registry's credentials", { cause })
  return new RuntimeUnavailableError(`the image ${image} cannot be pulled now: ${safe}; try again`)
}

/** Base64 for URLs, and filled up at its end: engines take no other. */
function encode(credentials: { readonly username: string; readonly password: string }): string {
  return Buffer.from(JSON.stringify(credentials)).toString('base64').replaceAll('+', '-').replaceAll('/', '_')
}
