import { type Path, type Source, valueAt } from './place.ts'

export type Environment = Readonly<Record<string, string | undefined>>

/** What a placeholder stands for; undefined where nobody knows. */
export type LookUp = (name: string) => string | undefined

/** Replaces `${NAME}` and `${NAME:default}` in the source's texts. What stands for a name is not looked at again. */
export function substitute(
  source: Source,
  lookUp: LookUp,
  onMissing: (path: Path, name: string) => void,
  path: Path = [],
): void {
  const parent = valueAt(source.root, path)
  if (typeof parent !== 'object' || parent === null) return
  for (const [name, value] of Object.entries(parent)) {
    const at = [...path, Array.isArray(parent) ? Number(name) : name]
    if (typeof value === 'string') {
      const text = expand(value, lookUp, variable => onMissing(at, variable))
      Reflect.set(parent, name, text)
    } else substitute(source, lookUp, onMissing, at)
  }
}

/** Defaults may hold placeholders themselves. */
export function expand(text: string, lookUp: LookUp, onMissing: (name: string) => void): string {
  let result = ''
  let from = 0
  for (;;) {
    const start = text.indexOf('${', from)
    const end = start < 0 ? -1 : closingBrace(text, start + 2)
    if (end < 0) return result + text.slice(from)
    result += text.slice(from, start) + resolve(text.slice(start + 2, end), lookUp, onMissing)
    from = end + 1
  }
}

function resolve(placeholder: string, lookUp: LookUp, onMissing: (name: string) => void): string {
  const colon = placeholder.indexOf(':')
  const name = (colon < 0 ? placeholder : placeholder.slice(0, colon)).trim()
  const value = lookUp(name)
  if (value !== undefined) return value
  if (colon >= 0) return expand(placeholder.slice(colon + 1), lookUp, onMissing)
  onMissing(name)
  return ''
}

function closingBrace(text: string, from: number): number {
  let depth = 1
  for (let index = from; index < text.length; index += 1) {
    if (text.startsWith('${', index)) depth += 1
    else if (text[index] === '}') depth -= 1
    if (depth === 0) return index
  }
  return -1
}
