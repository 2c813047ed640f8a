import { text } from 'node:stream/consumers'
import { isJsonObject, type JsonObject } from '../../protocol/json.ts'
import { type ImageProgram, RuntimeUnavailableError, type SandboxProgram, SandboxRefusedError } from '../../sandbox.ts'
import { createRedactor } from '../../sensitive/redact.ts'
import { brokenOff, type Engine, unavailable } from './engine.ts'

/** Throws where the program is none that a container can be made of. */
export function asImage(program: SandboxProgram): ImageProgram {
  if (program.kind === 'image') return program
  throw new SandboxRefusedError(
    'the container runtime runs images, and this bundle is a folder; use the process runtime',
  )
}

/** What an image says of itself that matters to its start. */
export interface ImageFacts {
  readonly entrypoint: readonly string[]
  /** Its entry point is one of the Automation Broker's base images: it takes the third argument for JSON itself. */
  readonly readsJson: boolean
  /** Where it sets one, it has there what it needs. */
  readonly home?: string
}

/** Sees to it that the engine has the image. */
export async function ensureImage(engine: Engine, program: ImageProgram, signal?: AbortSignal): Promise<ImageFacts> {
  const { image, pull } = program
  try {
    // What a digest names never changes.
    const isKept = pull !== 'always' || image.includes('@sha256:')
    const found = isKept ? await findImage(engine, image, signal) : undefined
    if (found !== undefined) return found
    if (pull === 'never')
      throw new SandboxRefusedError(
        'its image is not on this machine, and may not be pulled; load it, or allow pulling',
        { cause: new Error(`it is ${image}`) },
      )
    await pullImage(engine, program, signal)
    const pulled = await findImage(engine, image, signal)
    if (pulled === undefined) throw new RuntimeUnavailableError(`the image ${image} is gone again; try again`)
    return pulled
  } catch (error) {
    signal?.throwIfAborted()
    throw error
  }
}

async function findImage(engine: Engine, image: string, signal?: AbortSignal): Promise<ImageFacts | undefined> {
  const found = await engine.call('GET', `/images/${encodeURIComponent(image)}/json`, { signal })
  if (found.status === 404) {
    found.stream.resume()
    return undefined
  }
  const body = found.status === 200 ? await found.json() : undefined
  if (!isJsonObject(body)) throw await unavailable(`looking for the image ${image}`, found)
  const { Entrypoint, Labels, Env } = asObject(body.Config)
  const home = listOf(Env).find(each => each.startsWith('HOME='))
  return {
    entrypoint: listOf(Entrypoint),
    readsJson: asObject(Labels)[baseLabel] !== undefined,
    home: home?.slice('HOME='.length) || undefined,
  }
}

/** On every image of the Automation Broker's base that reads JSON; those built on it have it too. */
const baseLabel = 'com.redhat.apb.runtime'

function asObject(value: unknown): JsonObject {
  return isJsonObject(value) ? value : {}
}

function listOf(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.map(String) : []
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
