import { RegistryError } from './registry-error.ts'

export interface LabelledSpec {
  readonly source: string
  readonly runtime: 1 | 2
}

/** What the labels of an image say; undefined where it is no bundle. */
export function readLabels(label: (name: string) => unknown): LabelledSpec | undefined {
  const spec = label('com.redhat.apb.spec')
  if (spec === undefined || spec === null || spec === '') return undefined
  if (typeof spec !== 'string') throw new RegistryError('its label com.redhat.apb.spec is no text; build it again')
  return { source: decode(spec), runtime: readRuntime(label) }
}

function decode(label: string): string {
  const text = label.replaceAll(/\s/g, '')
  if (!/^[\w+/-]*={0,2}$/.test(text))
    throw new RegistryError('its label com.redhat.apb.spec is not base64; build it again')
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.from(text, 'base64'))
  } catch {
    throw new RegistryError('its label com.redhat.apb.spec holds no UTF-8; build it again')
  }
}

/** The newer name wins. */
function readRuntime(label: (name: string) => unknown): 1 | 2 {
  const written = label('com.redhat.bundle.runtime') ?? label('com.redhat.apb.runtime') ?? '1'
  const runtime = String(written).trim()
  if (runtime === '1') return 1
  if (runtime === '2') return 2
  throw new RegistryError('its runtime label is neither 1 nor 2; build it with a runtime that is known here')
}
