import { isJsonObject, type Json, type JsonObject } from '../protocol/json.ts'
import type { Path } from '../shape/place.ts'
import { type Compile, type Expression, ExpressionError } from './expression.ts'

/** A value with expressions in its texts. */
export interface Template {
  /** The parts of a variable that its expressions name. */
  reads(variable: string): readonly string[]
  /** Throws an ExpressionError that says where. */
  render(values: JsonObject): Json
}

export interface TemplateMistake {
  readonly path: Path
  readonly problem: string
}

type Part = string | Expression

/**
 * `${…}` in a text is an expression. A text that is nothing else has the type of its value, and is left out of a map or a list
 * where that is null; `$${` is `${`. All mistakes are found at once; what is wrong is left out.
 */
export function compileTemplate(
  value: Json,
  compile: Compile,
): { readonly template: Template; readonly mistakes: readonly TemplateMistake[] } {
  const mistakes: TemplateMistake[] = []
  const expressions: Expression[] = []
  const render = prepare(value, [], { compile, mistakes, expressions })
  return {
    template: {
      reads: variable => [...new Set(expressions.flatMap(expression => expression.reads(variable)))],
      render: values => render(values) ?? null,
    },
    mistakes,
  }
}

interface Preparing {
  readonly compile: Compile
  readonly mistakes: TemplateMistake[]
  readonly expressions: Expression[]
}

/** Undefined: it is left out. */
type Render = (values: JsonObject) => Json | undefined

function prepare(value: Json, path: Path, preparing: Preparing): Render {
  if (typeof value === 'string') return prepareText(value, path, preparing)
  if (Array.isArray(value)) {
    const items = value.map((item: Json, index) => prepare(item, [...path, index], preparing))
    return values => items.flatMap(item => item(values) ?? [])
  }
  if (!isJsonObject(value)) return () => value
  const members = Object.entries(value).map(
    ([key, item]) =>
      [prepareText(key, [...path, key], preparing), prepare(item ?? null, [...path, key], preparing)] as const,
  )
  return values =>
    Object.fromEntries(
      members.flatMap(([key, item]) => {
        const rendered = item(values)
        return rendered === undefined ? [] : [[asText(key(values)), rendered] as const]
      }),
    )
}

function prepareText(text: string, path: Path, { compile, mistakes, expressions }: Preparing): Render {
  const parts: Part[] = []
  try {
    for (const part of split(text)) parts.push(typeof part === 'string' ? part : compile(part.expression))
  } catch (error) {
    if (!(error instanceof ExpressionError)) throw error
    mistakes.push({ path, problem: error.message })
    return () => undefined
  }
  const found = parts.filter(part => typeof part !== 'string')
  expressions.push(...found)
  if (found.length === 0) {
    const plain = parts.join('')
    return () => plain
  }
  const [only] = parts
  if (parts.length === 1 && typeof only === 'object') return values => evaluate(only, values) ?? undefined
  return values => parts.map(part => (typeof part === 'string' ? part : asText(evaluate(part, values)))).join('')
}

function evaluate(expression: Expression, values: JsonObject): Json {
  try {
    return expression.evaluate(values)
  } catch (error) {
    if (!(error instanceof ExpressionError)) throw error
    throw new ExpressionError(`\${${expression.text}}: ${error.message}`, { cause: error })
  }
}

function asText(value: Json | undefined): string {
  if (value === undefined || value === null) return ''
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}

/** Throws an ExpressionError where an expression does not end. */
function split(text: string): readonly (string | { readonly expression: string })[] {
  const parts: (string | { readonly expression: string })[] = []
  let plain = ''
  let at = 0
  while (at < text.length) {
    if (text.startsWith('$${', at)) {
      plain += '${'
      at += 3
    } else if (text.startsWith('${', at)) {
      const end = endOf(text, at + 2)
      if (end === undefined) throw new ExpressionError('an expression begins with ${ and does not end; close it with }')
      if (plain !== '') parts.push(plain)
      plain = ''
      parts.push({ expression: text.slice(at + 2, end) })
      at = end + 1
    } else {
      plain += text[at]
      at += 1
    }
  }
  return plain === '' && parts.length > 0 ? parts : [...parts, plain]
}

/** Where the closing brace is: those of maps, and of texts in quotes, do not count. */
function endOf(text: string, from: number): number | undefined {
  let depth = 0
  let quote: string | undefined
  for (let at = from; at < text.length; at++) {
    const char = text[at]
    if (quote !== undefined) {
      if (char === '\\') at++
      else if (char === quote) quote = undefined
    } else if (char === '"' || char === "'") quote = char
    else if (char === '{') depth++
    else if (char === '}' && depth-- === 0) return at
  }
  return undefined
}
