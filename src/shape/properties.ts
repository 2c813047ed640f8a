import * as yaml from 'yaml'

/**
 * A Java .properties file as the documents of a YAML file: each is a map of dotted keys and texts. A comment `#---` begins
 * another document, as in Spring.
 */
export function composeProperties(text: string, onLine: (offset: number) => void): readonly yaml.Document[] {
  let pairs = new Map<string, yaml.Pair>()
  const maps = [pairs]
  for (const { start, content } of logicalLines(text, onLine)) {
    if (/^[#!]---\s*$/.test(content)) {
      pairs = new Map()
      maps.push(pairs)
    }
    if (/^[#!]|^$/.test(content)) continue
    const [, key = '', value = ''] = /^((?:\\.|[^\\=:\s])*)(?:\s*[=:]\s*|\s+|$)(.*)$/s.exec(content) ?? []
    const name = unescaped(key)
    // As in Java, the last one counts.
    pairs.set(name, new yaml.Pair(scalarAt(name, start), scalarAt(unescaped(value), start)))
  }
  return maps.map(found => {
    const map = new yaml.YAMLMap()
    map.items.push(...found.values())
    return new yaml.Document(map)
  })
}

function scalarAt(value: string, start: number): yaml.Scalar {
  const scalar = new yaml.Scalar(value)
  scalar.range = [start, start, start]
  return scalar
}

/** Lines without the spaces that they begin with; one that ends with a backslash goes on in the next one. */
function* logicalLines(text: string, onLine: (offset: number) => void) {
  let start = 0
  let content = ''
  let isOpen = false
  for (const { 0: line, 1: written = '', index } of text.matchAll(/([^\r\n]*)(?:\r\n|\r|\n|$)/g)) {
    if (line === '' && index === text.length && !isOpen) break
    onLine(index)
    const trimmed = written.replace(/^[\s\uFEFF]+/, '')
    if (!isOpen) start = index + written.length - trimmed.length
    content = isOpen ? content + trimmed : trimmed
    isOpen =
      !/^[#!]/.test(content) && (/\\*$/.exec(content)?.[0].length ?? 0) % 2 === 1 && index + line.length < text.length
    if (isOpen) content = content.slice(0, -1)
    else yield { start, content }
  }
}

const escapes: Readonly<Record<string, string>> = { t: '\t', n: '\n', r: '\r', f: '\f' }

function unescaped(text: string): string {
  return text.replaceAll(/\\(?:u([0-9a-fA-F]{4})|(.)|$)/gs, (_, code?: string, character = '') =>
    code === undefined ? (escapes[character] ?? character) : String.fromCharCode(Number.parseInt(code, 16)),
  )
}
