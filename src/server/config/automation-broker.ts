import { text } from '../../shape/fields.ts'
import type { Mistake } from '../../shape/mistake.ts'
import { fromCode, isObject, placeOf, put, type Source, valueAt } from '../../shape/place.ts'
import { read } from '../../shape/read.ts'
import { list, object, optional } from '../../shape/shape.ts'

/** What the Automation Broker's file calls otherwise: `registry` is `registries`, and `secrets` are `bundles.secrets`. */
export function moveAutomationBroker(source: Source): readonly Mistake[] {
  const { root } = source
  if (!isObject(root)) return []
  moveSecrets(source, root)
  if (root.registry === undefined) return []
  const place = placeOf(source, ['registry'])
  const twice = root.registries !== undefined
  if (!twice) put(source, ['registries'], root.registry, place)
  delete root.registry
  const problem = 'stands beside "registries", which is the same'
  return twice ? [{ path: ['registry'], place, problem, remedy: 'keep one' }] : []
}

const secretsShape = list(object({ title: optional(text()), apb_name: text(), secret: text() }))

/** A list with anything else in it is left where it is, and reported as a setting that nobody knows. */
function moveSecrets(source: Source, root: Record<string, unknown>): void {
  const secrets = read(secretsShape, fromCode(root.secrets))
  if (!secrets.ok) return
  const place = placeOf(source, ['secrets'])
  delete root.secrets
  const present = valueAt(root, ['bundles', 'secrets'])
  const moved = secrets.value.map(({ apb_name: bundle, secret }) => ({ bundle, secret }))
  put(source, ['bundles', 'secrets'], [...(Array.isArray(present) ? present : []), ...moved], place)
}
