import { readdirSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'

export const root = join(import.meta.dirname, '..', '..')

/** Every Markdown page of the repository, as paths from its root. */
export const pages: readonly string[] = [
  ...readdirSync(root).filter(name => name.endsWith('.md')),
  ...['docs', 'samples', 'bundles'].flatMap(folder =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter(name => name.endsWith('.md') && !name.includes('node_modules'))
      .map(name => join(folder, name)),
  ),
].sort()

/** Those whose code is for users to copy. */
export const guides = pages.filter(page => page === 'README.md' || page.startsWith('docs/guides/'))

export function readPage(page: string): string {
  return readFileSync(join(root, page), 'utf8')
}

/** A fenced block of code, with the comment that marks it: `<!-- run -->`, `<!-- file: broker.ts -->`. */
export interface Block {
  readonly page: string
  /** Where the fence stands. */
  readonly line: number
  readonly language: string
  readonly text: string
  readonly marker: string | undefined
  readonly argument: string
}

export function blocksOf(page: string): readonly Block[] {
  const lines = readPage(page).split('\n')
  const blocks: Block[] = []
  for (let at = 0; at < lines.length; at += 1) {
    const [, indent = '', language] = /^( *)```(\S*)$/.exec(lines[at] ?? '') ?? []
    if (language === undefined) continue
    const end = lines.findIndex((line, index) => index > at && line.trim() === '```')
    const [, marker, argument = ''] = /^<!-- (\w+)(?:: (.+))? -->$/.exec(lines[at - 1]?.trim() ?? '') ?? []
    const text = lines.slice(at + 1, end).map(line => line.slice(indent.length))
    blocks.push({ page, line: at + 1, language, text: `${text.join('\n')}\n`, marker, argument })
    at = end
  }
  return blocks
}

export function nameOf(page: string): string {
  return basename(page, '.md')
}

/** The cells of every row of every table whose first cell is code, between a heading and the next one of its level or above. */
export function rowsUnder(page: string, heading: string): readonly (readonly string[])[] {
  return sectionOf(page, heading)
    .split('\n')
    .filter(line => line.startsWith('| `'))
    .map(line =>
      line
        .replaceAll('\\|', '\0')
        .split('|')
        .slice(1, -1)
        .map(cell => cell.trim().replaceAll('\0', '|')),
    )
}

export function sectionOf(page: string, heading: string): string {
  const lines = readPage(page).split('\n')
  const start = lines.findIndex(line => line.replace(/^#+ /, '') === heading && line.startsWith('#'))
  if (start < 0) return ''
  const level = lines[start]?.indexOf(' ') ?? 0
  const end = lines.findIndex((line, index) => index > start && /^#+ /.test(line) && line.indexOf(' ') <= level)
  return lines.slice(start + 1, end < 0 ? undefined : end).join('\n')
}
