/** What keeps a pattern from doing what its author means. Errors: it cannot be used. Warnings: not everywhere. */
export function judgePattern(pattern: string): { readonly error?: string; readonly warning?: string } {
  if (pattern.length > longest) return { error: `has more than ${longest} characters; shorten it` }
  const meant = find(pattern, re2Only)
  if (meant !== undefined)
    return { error: `has ${meant}, which Go knows and JSON Schema does not; write it as JavaScript does` }
  if (!compiles(pattern)) return { error: 'is not a regular expression; correct it, or take it out' }
  const unknown = find(pattern, unknownToRe2)
  return unknown === undefined
    ? {}
    : { warning: `has ${unknown}, which Go does not know: brokers and platforms written in it ignore the pattern` }
}

/** Far more than people write, and far less than what exhausts the machine that compiles it. */
const longest = 1000

/** As schemas are compiled: in Unicode mode, or else outside of it. */
export function toRegExp(pattern: string): RegExp {
  try {
    return new RegExp(pattern, 'u')
  } catch {
    return new RegExp(pattern)
  }
}

function compiles(pattern: string): boolean {
  try {
    // It is compiled when it is used first.
    toRegExp(pattern).test('')
    return true
  } catch {
    return false
  }
}

/** Says what it has found at the beginning of `rest`. */
type Look = (rest: string, inClass: boolean) => string | undefined

/** JavaScript reads some of these without a word as something else: `\A` as an A. */
const re2Only: Look = (rest, inClass) => {
  if (inClass) return /^\[:\^?[a-z]+:\]/.test(rest) ? 'a class such as [[:alpha:]]' : undefined
  if (/^\\[AzCQ]/.test(rest)) return 'an escape such as \\A or \\z'
  if (/^\(\?[imsU]+(-[imsU]+)?[:)]/.test(rest)) return 'a flag such as (?i)'
  return rest.startsWith('(?P<') ? 'a group (?P<name>…)' : undefined
}

const unknownToRe2: Look = (rest, inClass) => {
  if (inClass) return undefined
  if (/^\(\?<?[=!]/.test(rest)) return 'a look-around'
  if (/^\\([1-9]|k<)/.test(rest)) return 'a back reference'
  const [, least = '0', most = '0'] = /^\{(\d+)(?:,(\d*))?\}/.exec(rest) ?? []
  return Math.max(Number(least), Number(most)) > 1000 ? 'a repetition of more than 1000' : undefined
}

function find(pattern: string, look: Look): string | undefined {
  let inClass = false
  for (let at = 0; at < pattern.length; at++) {
    const rest = pattern.slice(at, at + 40)
    const found = look(rest, inClass)
    if (found !== undefined) return found
    if (rest.startsWith('\\')) at++
    else if (rest.startsWith('[')) inClass = true
    else if (rest.startsWith(']')) inClass = false
  }
  return undefined
}
