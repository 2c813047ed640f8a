import { isTree, join } from './tree.ts'

export type Environment = Readonly<Record<string, string | undefined>>

/** A copy with `${NAME}` and `${NAME:default}` in its texts replaced. What the environment says is not looked at again. */
export function substitute(
  value: unknown,
  env: Environment,
  onMissing: (path: string, name: string) => void,
  path = '',
): unknown {
  if (typeof value === 'string') return expand(value, env, name => onMissing(path, name))
  if (Array.isArray(value)) return value.map((item, index) => substitute(item, env, onMissing, join(path, index)))
  if (!isTree(value)) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, child]) => [key, substitute(child, env, onMissing, join(path, key))]),
  )
}

/** Defaults may hold placeholders themselves. */
function expand(text: string, env: Environment, onMissing: (name: string) => void): string {
  let result = ''
  let from = 0
  for (;;) {
    const start = text.indexOf('${', from)
    const end = start < 0 ? -1 : closingBrace(text, start + 2)
    if (end < 0) return result + text.slice(from)
    result += text.slice(from, start) + resolve(text.slice(start + 2, end), env, onMissing)
    from = end + 1
  }
}

function resolve(placeholder: string, env: Environment, onMissing: (name: string) => void): string {
  const colon = placeholder.indexOf(':')
  const name = (colon < 0 ? placeholder : placeholder.slice(0, colon)).trim()
  const value = env[name]
  if (value !== undefined) return value
  if (colon >= 0) return expand(placeholder.slice(colon + 1), env, onMissing)
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
