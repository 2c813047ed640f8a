import { RuntimeUnavailableError } from '../../sandbox.ts'
import type { FileEnd } from '../read-output-file.ts'
import { tailBytes } from '../redact.ts'
import { brokenOff, type Engine, unavailable } from './engine.ts'

/** The end of what a container printed. */
export async function readContainerLog(engine: Engine, id: string): Promise<FileEnd> {
  let kept = Buffer.alloc(0)
  let cut = false
  try {
    for await (const part of outputOf(engine, id)) {
      kept = Buffer.concat([kept, part])
      if (kept.length > 3 * tailBytes) {
        kept = kept.subarray(kept.length - 2 * tailBytes)
        cut = true
      }
    }
  } catch (error) {
    throw error instanceof RuntimeUnavailableError ? error : brokenOff('reading a log', error)
  }
  return { text: kept.toString(), cut }
}

/**
 * What a container has printed; with a signal also what it prints from now on, to its end. What is printed faster than the
 * engine keeps it may be missed. Attaching would miss nothing, but to attach to one that has just ended makes Podman prepare
 * it anew and forget its exit code.
 */
export async function* outputOf(engine: Engine, id: string, signal?: AbortSignal): AsyncGenerator<Buffer> {
  const follow = signal === undefined ? '' : 'follow=1&'
  const answer = await engine.call('GET', `/containers/${id}/logs?${follow}stdout=1&stderr=1`, { signal })
  if (answer.status !== 200) throw await unavailable('reading a log', answer)
  let rest = Buffer.alloc(0)
  let left = 0
  for await (const chunk of answer.stream) {
    rest = Buffer.concat([rest, chunk])
    // Each part has a head of eight bytes, of which the last four are its length.
    while (rest.length >= (left === 0 ? 8 : 1)) {
      if (left === 0) {
        left = rest.readUInt32BE(4)
        rest = rest.subarray(8)
      } else {
        const part = rest.subarray(0, left)
        rest = rest.subarray(part.length)
        left -= part.length
        yield part
      }
    }
  }
}
