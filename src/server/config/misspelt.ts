import type { Mistake } from '../../shape/mistake.ts'
import type { Environment } from '../../shape/placeholders.ts'
import { suggest } from '../../shape/suggest.ts'
import { environmentNames } from './overrides.ts'

const prefix = 'PURSER_'
/** Those that are no settings: some are read by other commands. */
const others = ['CONFIG', 'USERNAME', 'PASSWORD', 'URL', 'PROFILE', 'PROFILES']
/** What Kubernetes sets in every pod, beside a Service whose name begins with purser. */
const serviceLink = /^PURSER_(.*_)?(SERVICE_(HOST|PORT)|PORT_\d+_)/

/** Variables that nobody reads, and that are close to one that is read. Other programs may use the prefix, so they are only told. */
export function findMisspelt(env: Environment): readonly Mistake[] {
  const known = [...others, ...environmentNames().map(([name]) => name.slice(prefix.length))]
  return Object.keys(env).flatMap(name => {
    const rest = name.slice(prefix.length)
    if (!name.startsWith(prefix) || known.includes(rest) || serviceLink.test(name)) return []
    const meant = suggest(rest, known)
    if (meant === undefined) return []
    const remedy = `did you mean ${prefix}${meant}?`
    return { severity: 'warning' as const, path: [], place: { source: name }, problem: 'is no setting', remedy }
  })
}
