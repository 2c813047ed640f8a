/** OSB API "API Version Header". Minor versions only add, so any 2.x is served (HDR-06); empty counts as missing (HDR-08). */
export function parseApiVersion(header: string | undefined): { readonly minor: number } | 'missing' | 'unsupported' {
  if (header === '2.17') return latest
  const text = header?.trim() ?? ''
  if (text === '') return 'missing'
  const minor = /^2\.(\d{1,6})$/.exec(text)?.[1]
  return minor === undefined ? 'unsupported' : { minor: Number(minor) }
}

/** The newest minor version this code speaks: from here on nothing is trimmed. */
export const latestMinor = 17
const latest = { minor: latestMinor }
