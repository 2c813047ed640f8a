import { type Document, isMap, isScalar } from 'yaml'
import { relaxed } from '../../shape/describe.ts'
import { isObject, type Path, placeOf, put, type Source, valueAt } from '../../shape/place.ts'

/** A Spring broker's application.yaml is told by its `spring` or `com` key. */
export function isSpringDocument({ contents }: Document): boolean {
  if (!isMap(contents)) return false
  return contents.items.some(({ key }) => /^(spring|com)(\.|$)/.test(isScalar(key) ? String(key.value) : ''))
}

/**
 * What of such a file concerns us: our own keys as they are, Spring's names under ours, and which settings hold a cron
 * pattern of Spring's. `isKnown`: whether a key is a setting's, at the top or in `server`, a section that Spring has too.
 * `catalogFile`: its name, if there is a catalog in it, for whichever profile.
 */
export function readSpring(file: Source, isKnown: (path: Path) => boolean, catalogFile?: string) {
  const source = { ...file, root: {} }
  const keep = (path: Path) => {
    for (const key of Object.keys(Object(valueAt(file.root, path)))) {
      const at = [...path, key]
      if (isKnown(at)) put(source, at, valueAt(file.root, at), placeOf(file, at))
    }
  }
  keep([])
  if (isObject(valueAt(source.root, ['server']))) {
    put(source, ['server'], {}, placeOf(file, ['server']))
    keep(['server'])
  }
  const patterns: Path[] = []
  for (const { from, to, isPattern } of moves) {
    const found = lookUp(file.root, from)
    if (found === undefined || valueAt(source.root, to) !== undefined) continue
    put(source, to, valueAt(file.root, found), placeOf(file, found))
    if (isPattern) patterns.push(to)
  }
  if (catalogFile !== undefined && valueAt(source.root, ['catalog']) === undefined) {
    const catalog = lookUp(file.root, ['spring', 'cloud', 'openservicebroker', 'catalog'])
    put(source, ['catalog'], catalogFile, catalog && placeOf(file, catalog))
  }
  return { source, patterns }
}

/** Where Spring's pattern names a day of the month and one of the week, both must hold; elsewhere in cron either will do. */
export function asSpringReads(pattern: unknown): unknown {
  if (typeof pattern !== 'string') return pattern
  const fields = pattern.trim().split(/\s+/)
  const [, , , day = '*', , weekday = '*'] = fields
  if (fields.length !== 6 || [day, weekday].some(field => field === '*' || field === '?')) return pattern
  return [...fields.slice(0, 5), `+${weekday}`].join(' ')
}

const moves = (['instances', 'bindings'] as const).flatMap(section => {
  const spring = ['com', 'equalities', 'osbapi', `service-${section}`]
  const cleanUp = (name: string, isPattern: boolean) => ({
    from: [...spring, 'operations', `cleanup-${name}`],
    to: ['chores', 'cleanUp', section, name],
    isPattern,
  })
  return [
    { from: [...spring, 'force-delete-unknown'], to: [section, 'forceDeleteUnknown'], isPattern: false },
    cleanUp('age', false),
    ...['all', 'succeeded', 'failed'].map(name => cleanUp(name, true)),
  ]
})

/** Spring compares names without dashes, underscores and case. */
function lookUp(root: unknown, names: readonly string[]): Path | undefined {
  const path: string[] = []
  for (const name of names) {
    const value = valueAt(root, path)
    const key = isObject(value) ? Object.keys(value).find(one => relaxed(one) === relaxed(name)) : undefined
    if (key === undefined) return undefined
    path.push(key)
  }
  return path
}
