/** A token of TypeScript, as coarse as the scan for requirements needs it. `value` is set for strings. */
export interface Token {
  readonly kind: 'word' | 'string' | 'template' | 'regex' | 'mark'
  readonly text: string
  readonly value?: string
  readonly line: number
}

/** Splits source into tokens; comments and white space are dropped, so that nothing in them can count as code. */
export function tokenize(source: string): readonly Token[] {
  const tokens: Token[] = []
  let at = 0
  let line = 1
  while (at < source.length) {
    const rest = source.slice(at)
    const blank = /^(?:\s+|\/\/[^\n]*|\/\*[\s\S]*?\*\/)/.exec(rest)?.[0]
    const token = blank === undefined ? readToken(rest, line, tokens.at(-1)) : undefined
    if (token !== undefined) tokens.push(token)
    const text = blank ?? token?.text ?? ''
    line += text.split('\n').length - 1
    at += text.length
  }
  return tokens
}

function readToken(rest: string, line: number, before: Token | undefined): Token {
  const word = /^[\p{L}\p{N}_$]+/u.exec(rest)?.[0]
  if (word !== undefined) return { kind: 'word', text: word, line }
  const quoted = /^(['"])(?:\\[\s\S]|(?!\1)[^\\\n])*\1/.exec(rest)?.[0]
  if (quoted !== undefined) return { kind: 'string', text: quoted, value: withoutEscapes(quoted.slice(1, -1)), line }
  if (rest.startsWith('`')) {
    const text = readTemplate(rest)
    return { kind: 'template', text, value: withoutEscapes(text.slice(1, -1)), line }
  }
  const regex = startsExpression(before)
    ? /^\/(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\[\n])+\/[a-z]*/.exec(rest)?.[0]
    : undefined
  if (regex !== undefined) return { kind: 'regex', text: regex, line }
  return { kind: 'mark', text: String.fromCodePoint(rest.codePointAt(0) ?? 0), line }
}

/** To the closing backtick; a `${…}` inside is tokenized in turn, since it may hold strings and templates of its own. */
function readTemplate(rest: string): string {
  let at = 1
  while (at < rest.length && rest[at] !== '`') {
    if (rest[at] === '\\') at += 2
    else if (rest.startsWith('${', at)) at = endOfPlaceholder(rest, at + 2)
    else at += 1
  }
  return rest.slice(0, at + 1)
}

function endOfPlaceholder(source: string, start: number): number {
  let depth = 1
  let at = start
  let before: Token | undefined
  while (at < source.length && depth > 0) {
    const rest = source.slice(at)
    const blank = /^(?:\s+|\/\/[^\n]*|\/\*[\s\S]*?\*\/)/.exec(rest)?.[0]
    const token = blank === undefined ? readToken(rest, 0, before) : undefined
    if (token?.text === '{') depth += 1
    if (token?.text === '}') depth -= 1
    before = token ?? before
    at += (blank ?? token?.text ?? ' ').length
  }
  return at
}

/** After a value a slash divides; anywhere else it starts a regular expression. */
function startsExpression(before: Token | undefined): boolean {
  if (before === undefined) return true
  if (before.kind === 'word') return ['return', 'typeof', 'case', 'in', 'of', 'await', 'void'].includes(before.text)
  return before.kind === 'mark' && before.text !== ')' && before.text !== ']'
}

function withoutEscapes(text: string): string {
  return text.replace(/\\(['"`\\$])/g, '$1')
}
