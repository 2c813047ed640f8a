import type { Mistake } from '../../shape/mistake.ts'
import { isObject, placeOf, put, type Source, valueAt } from '../../shape/place.ts'

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

/** A list with anything else in it is left where it is, and reported as a setting that nobody knows. */
function moveSecrets(source: Source, root: Record<string, unknown>): void {
  const { secrets } = root
  if (!Array.isArray(secrets) || !secrets.every(isSecret)) return
  const place = placeOf(source, ['secrets'])
  delete root.secrets
  const present = valueAt(root, ['bundles', 'secrets'])
  const moved = secrets.map(({ apb_name, secret }) => ({ bundle: apb_name, secret }))
  put(source, ['bundles', 'secrets'], [...(Array.isArray(present) ? present : []), ...moved], place)
}

function isSecret(value: unknown): value is { readonly apb_name: string; readonly secret: string } {
  return (
    isObject(value) &&
    typeof value.apb_name === 'string' &&
    typeof value.secret === 'string' &&
    Object.keys(value).every(key => ['title', 'apb_name', 'secret'].includes(key))
  )
}
