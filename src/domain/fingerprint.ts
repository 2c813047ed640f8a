import { createHash } from 'node:crypto'
import type { Operation } from './operation.ts'

type About = Pick<Operation, 'id' | 'instanceId' | 'bindingId' | 'serviceId' | 'action'>

/** The same for failures that differ in nothing but numbers, times and ids: of one service, action and step. */
export function fingerprintOf(operation: About, step: string | undefined, message: string): string {
  const { serviceId, action } = operation
  const parts = [serviceId, action, step ?? '', normalise(message, operation)]
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 16)
}

/** Longer ones say nothing more about what kind of failure it is. */
const longest = 500

function normalise(message: string, { id, instanceId, bindingId }: About): string {
  // Short ones may be words.
  const own = [id, instanceId, bindingId ?? ''].filter(each => each.length > 3)
  const known = own.reduce((words, each) => words.replaceAll(each, '<id>'), message.slice(0, 4 * longest))
  return (
    known
      .replace(/\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/gi, '<id>')
      .replace(/\b\d{4}-\d\d-\d\d[T ][\d:.]+(?:Z|[+-]\d\d:?\d\d)?/g, '<time>')
      // A word with digits and letters in it, such as the name of a pod or a hash.
      .replace(/\b(?=[\w-]*\d)(?=[\w-]*[a-z])[\w-]{6,}\b/gi, '<id>')
      .replace(/\d+/g, '<n>')
      .replace(/\s+/g, ' ')
      .trim()
      .slice(0, longest)
  )
}
