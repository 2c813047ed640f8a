/** How a registry wants to be asked. */
export type Challenge =
  | { readonly kind: 'basic' }
  | { readonly kind: 'bearer'; readonly realm: string; readonly service?: string; readonly scope?: string }

/** The first one of a WWW-Authenticate header that is known here. */
export function parseChallenge(header: string | undefined): Challenge | undefined {
  for (const { scheme, parameters } of schemesOf((header ?? '').slice(0, 8192))) {
    if (scheme === 'basic') return { kind: 'basic' }
    const realm = parameters.get('realm')
    if (scheme !== 'bearer' || realm === undefined) continue
    return { kind: 'bearer', realm, service: parameters.get('service'), scope: parameters.get('scope') }
  }
  return undefined
}

interface Scheme {
  readonly scheme: string
  readonly parameters: Map<string, string>
}

function schemesOf(header: string): readonly Scheme[] {
  const schemes: Scheme[] = []
  for (const [, key, quotedValue, value, scheme] of header.matchAll(token)) {
    if (scheme !== undefined) schemes.push({ scheme: scheme.toLowerCase(), parameters: new Map() })
    else if (key !== undefined)
      schemes.at(-1)?.parameters.set(key.toLowerCase(), quotedValue?.replaceAll(/\\(.)/g, '$1') ?? value ?? '')
  }
  return schemes
}

/** A parameter with its value, or else the name of a scheme. */
const token = /([\w-]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s,"]+))|([\w-]+)/g
