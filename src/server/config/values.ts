import { configShape } from '../../settings/config.ts'
import { listFields } from '../../shape/describe.ts'
import { type Path, valueAt } from '../../shape/place.ts'
import type { Kind } from '../../shape/shape.ts'

/** The texts that are given for settings of these kinds. */
export function textsOf(root: unknown, kinds: readonly Kind[]): { path: Path; kind: Kind; text: string }[] {
  return listFields(configShape).flatMap(({ path, described: { info } }) => {
    const { kind } = info
    if (kind === undefined || !kinds.includes(kind)) return []
    return spread(root, path, []).flatMap(found => {
      const text = valueAt(root, found)
      return typeof text === 'string' && text !== '' ? [{ path: found, kind, text }] : []
    })
  })
}

/** The paths that `auth.basic[].username` stands for. */
function spread(root: unknown, [key, ...rest]: readonly string[], path: Path): Path[] {
  if (key === undefined) return [path]
  if (key !== '[]') return spread(root, rest, [...path, key])
  const items = valueAt(root, path)
  return Array.isArray(items) ? items.flatMap((_, index) => spread(root, rest, [...path, index])) : []
}
