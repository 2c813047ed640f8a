import { decodeSpec } from '../bundle/encoded-spec.ts'
import type { FoundBundle } from '../domain/revision.ts'

export type LabelledSpec = Pick<FoundBundle, 'source' | 'runtime' | 'unreadable'>

/**
 * What the labels of an image say; undefined where it is not a bundle. They are part of the image, and never change. One that
 * waits until its credentials are fetched cannot be used where nobody does that.
 */
export function readLabels(label: (name: string) => unknown, fetchesCredentials = false): LabelledSpec | undefined {
  const spec = label('com.redhat.apb.spec')
  if (spec === undefined || spec === null || spec === '') return undefined
  const runtime = readRuntime(label)
  if (runtime === 'outdated' && !fetchesCredentials) return unreadable(outdated)
  if (runtime === undefined) return unreadable('its runtime label is not 2; build it with a runtime that is known here')
  if (typeof spec !== 'string') return unreadable('its label com.redhat.apb.spec is not text; build it again')
  const decoded = decodeSpec(spec)
  if ('not' in decoded) return unreadable(`its label com.redhat.apb.spec is not ${decoded.not}; build it again`)
  return { ...decoded, runtime: runtime === 2 ? 2 : 1 }
}

function unreadable(why: string): LabelledSpec {
  return { source: '', runtime: 2, unreadable: why }
}

const outdated =
  'its runtime label is 1: it keeps its credentials in /var/tmp/bind-creds and waits for the broker to fetch them, which works only in a Kubernetes cluster (bundles.runtime: kubernetes); build it again on a base with runtime 2'

/** The newer name wins. An image that says nothing may well give out its credentials by the modules. */
function readRuntime(label: (name: string) => unknown): 1 | 2 | 'outdated' | undefined {
  const written = label('com.redhat.bundle.runtime') ?? label('com.redhat.apb.runtime')
  if (written === undefined || written === null) return 1
  const said = String(written).trim()
  return said === '1' ? 'outdated' : said === '2' ? 2 : undefined
}
