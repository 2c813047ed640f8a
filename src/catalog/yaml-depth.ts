import type { CST } from 'yaml'
import { deepestJson } from '../shape/json.ts'

/**
 * A token that is nested too deep; undefined where none is. For between the two halves of the YAML parser: the first one
 * keeps a list, but the second one calls itself. Where its stack runs out inside a regular expression, the whole process
 * ends, which nobody can catch; 60,000 dashes in a row are enough.
 */
export function findTooDeep(tokens: readonly CST.Token[]): CST.Token | undefined {
  const open: [token: CST.Token, depth: number][] = tokens.map(token => [token, 0])
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const [token, depth] = next
    if (depth > deepestJson) return token
    if (token.type === 'document' && token.value !== undefined) open.push([token.value, depth])
    if (!('items' in token)) continue
    for (const { key, value } of token.items) {
      if (key) open.push([key, depth + 1])
      if (value) open.push([value, depth + 1])
    }
  }
  return undefined
}

export const tooDeep = `it is nested more than ${deepestJson} levels deep`
