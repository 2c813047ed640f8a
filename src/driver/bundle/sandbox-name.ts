import { createHash } from 'node:crypto'

/** The name of an operation's nth sandbox. A deprovision may run one for each binding as well, which names it too. */
export function sandboxName(operationId: string, bindingId: string | undefined, attempt: number): string {
  const whose = bindingId === undefined ? '' : `${createHash('sha256').update(bindingId).digest('hex').slice(0, 12)}-`
  return `${prefixOf(operationId)}${whose}${attempt}`
}

export function belongsTo(operationId: string, name: string): boolean {
  return name.startsWith(prefixOf(operationId))
}

function prefixOf(operationId: string): string {
  return `o-${operationId}-`
}
