import type { AbandonedBody } from '../../client/index.ts'
import { count } from '../../shape/count.ts'
import { toLine } from './printable.ts'

/** What is left of an abandoned instance, as far as the broker knows. */
export function renderAbandoned(id: string, { ended, remains }: AbandonedBody): string {
  const { revision, dashboard_url, state_keys = [], sandboxes = [], bindings = [], quiet_until } = remains ?? {}
  const left = [
    dashboard_url && `dashboard: ${dashboard_url}`,
    state_keys.length > 0 && `what its state named: ${state_keys.join(', ')}`,
    sandboxes.length > 0 && `sandboxes, if they still run: ${sandboxes.join(', ')}`,
    ...bindings.map(({ id: name, state_keys: keys }) => `binding ${name}: ${keys.join(', ') || 'no state'}`),
    revision && `what acted on it: revision ${revision}`,
  ].filter(line => typeof line === 'string')
  return [
    `${id} counts as deleted${bindings.length === 0 ? '' : `, with ${count(bindings.length, 'binding')}`}.`,
    ended && `Its ${ended.action} ${ended.operation} has ended: ${ended.state}.`,
    left.length === 0 ? 'The broker knows of nothing that is left.' : 'Remove by hand what is left of:',
    ...left.map(line => `  ${line}`),
    quiet_until && `Nothing is created under this id before ${quiet_until}: a call may still be on its way.`,
  ]
    .filter(line => typeof line === 'string' && line !== '')
    .map(line => `${String(line).startsWith('  ') ? '  ' : ''}${toLine(String(line))}\n`)
    .join('')
}
