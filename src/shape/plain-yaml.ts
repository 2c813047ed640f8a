import type { Place, Places, Source } from './place.ts'

/**
 * YAML as most people write a short file: maps and lists in lines of their own, and scalars that fit into one line. It is read
 * in a tenth of the time that a whole YAML parser takes, with the same values and places. Undefined where anything else is
 * in it, a fault included: that is for the parser to judge.
 */
export function readPlainYaml(text: string, name: string): Source | undefined {
  if (unusual.test(text)) return undefined
  const lines = linesOf(text)
  const [first] = lines
  if (first === undefined || lines.length > mostLines) return undefined
  const reader = new Reader(lines, name)
  try {
    const root = reader.block(first.indent, 0)
    return { root, place: reader.placeAt(first), places: reader.places }
  } catch (error) {
    if (error === notPlain) return undefined
    throw error
  }
}

/** Tabs, other ends of lines, and signs that YAML does not let pass everywhere. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for.
const unusual = /[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff\ud800-\udfff]/
const mostLines = 20_000
const deepest = 50
const notPlain = new Error('not plain')

interface Line {
  readonly indent: number
  readonly text: string
  readonly number: number
}

/** Without empty ones and comments. The mark of a document may stand before all others. */
function linesOf(text: string): readonly Line[] {
  const lines: Line[] = []
  for (const [index, whole] of text.split('\n').entries()) {
    const content = whole.trim()
    if (content === '' || content.startsWith('#') || (content === '---' && lines.length === 0 && whole === '---'))
      continue
    lines.push({ indent: whole.length - whole.trimStart().length, text: content, number: index + 1 })
  }
  return lines
}

class Reader {
  readonly places: Places = new WeakMap()
  readonly #lines: readonly Line[]
  readonly #name: string
  #next = 0

  constructor(lines: readonly Line[], name: string) {
    this.#lines = lines
    this.#name = name
  }

  placeAt({ number, indent }: Pick<Line, 'number' | 'indent'>, text?: string): Place {
    return { source: this.#name, line: number, column: indent + 1, text, tag: undefined }
  }

  /** The map or the list whose lines begin here, all at this indent. It must end where a line is further out. */
  block(indent: number, depth: number): unknown {
    const line = this.#lines[this.#next]
    if (line === undefined || depth > deepest) throw notPlain
    const value = isItem(line.text) ? this.#list(indent, depth) : this.#map(indent, depth)
    const after = this.#lines[this.#next]
    if (after !== undefined && (depth === 0 || after.indent > indent)) throw notPlain
    return value
  }

  #list(indent: number, depth: number): unknown {
    const list: unknown[] = []
    const places = new Map<number, Place>()
    this.places.set(list, places as Map<string | number, Place>)
    for (
      let line = this.#lines[this.#next];
      line?.indent === indent && isItem(line.text);
      line = this.#lines[this.#next]
    ) {
      const rest = line.text.slice(1)
      const inner = rest.trimStart()
      if (inner === '' || inner.startsWith('#')) throw notPlain
      const item = { indent: indent + 1 + rest.length - inner.length, text: inner, number: line.number }
      if (keyOf(inner) !== undefined || isItem(inner)) {
        // What stands behind the dash begins a block of its own.
        ;(this.#lines as Line[])[this.#next] = item
        places.set(list.length, this.placeAt(item))
        list.push(this.block(item.indent, depth + 1))
      } else {
        this.#next++
        const { value, text } = this.#inLine(item, indent)
        places.set(list.length, this.placeAt(item, text))
        list.push(value)
      }
    }
    return list
  }

  #map(indent: number, depth: number): unknown {
    const map: Record<string, unknown> = {}
    const places = new Map<string, Place>()
    this.places.set(map, places as Map<string | number, Place>)
    for (let line = this.#lines[this.#next]; line?.indent === indent; line = this.#lines[this.#next]) {
      const key = keyOf(line.text)
      if (key === undefined || key === '__proto__' || Object.hasOwn(map, key)) throw notPlain
      this.#next++
      const rest = line.text.slice(key.length + 1).trimStart()
      if (rest !== '' && !rest.startsWith('#')) {
        const at = { text: rest, number: line.number, indent: indent + line.text.length - rest.length }
        const { value, text } = this.#inLine(at, indent)
        places.set(key, this.placeAt(line, text))
        map[key] = value
        continue
      }
      const below = this.#lines[this.#next]
      const isBelow = below !== undefined && (below.indent > indent || (below.indent === indent && isItem(below.text)))
      places.set(key, this.placeAt(line, isBelow ? undefined : ''))
      map[key] = isBelow ? this.block(below.indent, depth + 1) : null
    }
    return map
  }

  /** A scalar, a list of scalars, or an empty map. One that goes on in the next line is not plain. */
  #inLine(line: Line, indent: number): Scalar {
    const after = this.#lines[this.#next]
    if (after !== undefined && after.indent > indent) throw notPlain
    const written = line.text.replace(/([\]}'"]) +#.*$/, '$1')
    if (written === '{}') return { value: this.#placed({}, new Map()) }
    if (written.startsWith('[')) return { value: this.#flowList(written, line) }
    const quoted = /^(?:'([^']*)'|"([^"\\]*)")$/.exec(written)
    if (quoted !== null) return { value: quoted[1] ?? quoted[2] }
    const text = written.replace(/ +#.*$/, '')
    if (!plain.test(text) || /: |:$| #/.test(text)) throw notPlain
    return { value: scalarOf(text), text }
  }

  #flowList(written: string, { number, indent }: Line): unknown {
    const items: Scalar[] = []
    const places = new Map<number, Place>()
    if (!/^\[ *\]$/.test(written)) {
      flowItem.lastIndex = 1
      for (let end = ','; end === ','; ) {
        const start = flowItem.lastIndex
        const [, before = '', single, double, text, sign = ''] = flowItem.exec(written) ?? []
        if (sign === '') throw notPlain
        places.set(items.length, this.placeAt({ number, indent: indent + start + before.length }, text))
        items.push({ value: text === undefined ? (single ?? double) : scalarOf(text) })
        end = sign
      }
      if (flowItem.lastIndex !== written.length) throw notPlain
    }
    return this.#placed(
      items.map(({ value }) => value),
      places,
    )
  }

  #placed<Value extends object>(value: Value, places: Map<number, Place>): Value {
    this.places.set(value, places as Map<string | number, Place>)
    return value
  }
}

interface Scalar {
  readonly value: unknown
  /** As it was written, where it has no quotes. */
  readonly text?: string
}

function isItem(text: string): boolean {
  return text === '-' || text.startsWith('- ')
}

function keyOf(text: string): string | undefined {
  return /^([A-Za-z_][\w.-]*):(?: |$)/.exec(text)?.[1]
}

const flowItem = /( *)(?:'([^']*)'|"([^"\\]*)"|(\w[\w./+-]*(?: +[\w./+-]+)*)) *([,\]])/y

/** What YAML's indicators cannot be at the beginning of. */
const plain = /^[\w./\\$()+;=^\u00a0-\ud7ff\ue000-\ufffd-](?!$| )|^[\w]/

const words = new Map<string, unknown>(
  Object.entries({ true: true, false: false, null: null }).flatMap(([word, value]) =>
    [word, `${word.charAt(0).toUpperCase()}${word.slice(1)}`, word.toUpperCase()].map(spelling => [spelling, value]),
  ),
)
const whole = /^-?(0|[1-9]\d{0,14})$/
const decimal = /^-?(0|[1-9]\d{0,11})\.\d{1,12}$/
const anyNumber = /^[-+]?(\.?\d[\d.eE+_-]*|0[xobXOB][\da-fA-F_]*|\.(inf|nan))$/i

function scalarOf(text: string): unknown {
  if (words.has(text)) return words.get(text)
  if (whole.test(text) || decimal.test(text)) return Number(text)
  // Numbers in other spellings, and what looks like one.
  if (anyNumber.test(text)) throw notPlain
  return text
}
