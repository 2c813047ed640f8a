import { compilePattern, PatternError } from './pattern.ts'

/** What keeps a pattern from doing what its author means. Errors: it cannot be used. Warnings: not everywhere. */
export function judgePattern(pattern: string): { readonly error?: string; readonly warning?: string } {
  try {
    compilePattern(pattern)
  } catch (error) {
    if (error instanceof PatternError) return { error: error.message }
    throw error
  }
  const meant = findGoSyntax(pattern)
  return meant === undefined
    ? {}
    : { warning: `has ${meant}, which platforms may not know: it is not in JSON Schema; write it as JavaScript does` }
}

/** JavaScript reads some of it without a word as something else, such as `\A` as an A. */
function goOnly(rest: string, inClass: boolean): string | undefined {
  if (inClass) return /^\[:\^?[a-z]+:\]/.test(rest) ? 'a class such as [[:alpha:]]' : undefined
  if (/^\\[AzCQ]/.test(rest)) return 'an escape such as \\A or \\z'
  if (/^\(\?[imsU]+(-[imsU]+)?[:)]/.test(rest)) return 'a flag such as (?i)'
  return rest.startsWith('(?P<') ? 'a group (?P<name>…)' : undefined
}

/** What of a pattern only Go, and our engine, understands. */
export function findGoSyntax(pattern: string): string | undefined {
  let inClass = false
  for (let at = 0; at < pattern.length; at++) {
    const rest = pattern.slice(at, at + 40)
    const found = goOnly(rest, inClass)
    if (found !== undefined) return found
    if (rest.startsWith('\\')) at++
    else if (rest.startsWith('[')) inClass = true
    else if (rest.startsWith(']')) inClass = false
  }
  return undefined
}
