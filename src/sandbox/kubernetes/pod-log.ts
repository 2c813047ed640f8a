import type { Cluster } from '../../kubernetes/cluster.ts'
import { isStatus } from '../../kubernetes/errors.ts'
import type { FileEnd } from '../read-output-file.ts'
import { tailBytes } from '../redact.ts'
import { bundleContainer, keeperContainer } from './pod.ts'
import type { SandboxRecord } from './records.ts'

/** How long a log that is read to its end may be silent. */
const patience = 20_000
/** One that is followed is silent for as long as its program is. */
const longestSilence = 24 * 3_600_000
/** Of usual lines far more than is kept. */
const lines = 5_000

function logOf({ namespace, name }: SandboxRecord): string {
  return `/api/v1/namespaces/${namespace}/pods/${name}/log`
}

/** The end of what a container has printed; empty where there is nothing to read any more. */
export async function readLog(
  cluster: Cluster,
  record: SandboxRecord,
  container: string,
  tailLines = lines,
): Promise<FileEnd> {
  let kept = Buffer.alloc(0)
  let read = 0
  try {
    const stream = await cluster.stream(logOf(record), { query: { container, tailLines }, patience })
    for await (const part of stream) {
      read += part.length
      kept = Buffer.concat([kept, part]).subarray(-2 * tailBytes)
    }
  } catch (error) {
    // The pod is gone, or the container was never made.
    if (!isStatus(error, 400, 404)) throw error
  }
  const text = kept.toString()
  return { text, cut: read > kept.length || text.split('\n').length > tailLines }
}

/** What was seen of a log that is followed. One that breaks off is followed from its start again. */
export interface Followed {
  printed: number
  end: Buffer
}

export function endOf({ printed, end }: Followed): FileEnd {
  return { text: end.toString(), cut: printed > end.length }
}

/** Follows what the bundle prints, until it ends or has printed more than `most`, which it says. */
export async function follow(
  cluster: Cluster,
  record: SandboxRecord,
  most: number,
  followed: Followed,
): Promise<boolean> {
  const query = { container: bundleContainer, follow: true }
  const stream = await cluster.stream(logOf(record), { query, patience: longestSilence })
  let printed = 0
  let end = Buffer.alloc(0)
  for await (const part of stream) {
    printed += part.length
    end = Buffer.concat([end, part]).subarray(-2 * tailBytes)
    Object.assign(followed, { printed, end })
    if (printed > most) return true
  }
  return false
}

/** What the keeper has said last with this word. */
export async function lastSaid(cluster: Cluster, record: SandboxRecord, word: string): Promise<string | undefined> {
  const { text } = await readLog(cluster, record, keeperContainer, 50)
  return text.split('\n').findLast(line => line.startsWith(`${word} `))
}
