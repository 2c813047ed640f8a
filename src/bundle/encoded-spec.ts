/** The text of a spec that came in base64, as labels of images and the tools of the Automation Broker have it; or what it is not. */
export function decodeSpec(encoded: string): { readonly source: string } | { readonly not: 'base64' | 'UTF-8' } {
  const text = encoded.replaceAll(/\s/g, '')
  if (!/^[\w+/-]*={0,2}$/.test(text)) return { not: 'base64' }
  try {
    return { source: new TextDecoder('utf-8', { fatal: true }).decode(Buffer.from(text, 'base64')) }
  } catch {
    return { not: 'UTF-8' }
  }
}
