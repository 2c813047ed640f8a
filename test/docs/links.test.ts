import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { pages, readPage, root } from './pages.ts'

describe('links', () => {
  it('are looked for in every page', () => {
    expect(pages).toEqual(expect.arrayContaining(['README.md', 'docs/guides/actions.md', 'docs/reference/cli.md']))
    expect(pages.flatMap(linksOf).length).toBeGreaterThan(40)
  })

  it.each(pages)('of %s lead somewhere', page => {
    const dead = linksOf(page).filter(link => !leadsSomewhere(page, link))
    expect(dead).toEqual([])
  })

  it.each(pages)('of %s: the sources that it names exist', page => {
    const named = readPage(page).match(/\b(src|test|scripts)\/[\w./-]*\w/g) ?? []
    expect(named.filter(path => !existsSync(join(root, path)))).toEqual([])
  })
})

function linksOf(page: string): string[] {
  const prose = readPage(page).replaceAll(/^ *```[\s\S]*?^ *```$/gm, '')
  const targets = [...prose.matchAll(/\[[^\]]*\]\(([^)\s]+)\)/g)].map(match => match[1] ?? '')
  return targets.filter(target => !/^[a-z]+:/.test(target))
}

function leadsSomewhere(page: string, link: string): boolean {
  const [path = '', anchor] = link.split('#')
  const target = path === '' ? page : join(dirname(page), path)
  if (!existsSync(join(root, target))) return false
  return anchor === undefined || anchorsOf(target).includes(anchor)
}

/** As GitHub makes them from headings. */
function anchorsOf(page: string): string[] {
  const headings = [...readPage(page).matchAll(/^#+ (.*)$/gm)].map(match => match[1] ?? '')
  return headings.map(heading =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
      .replaceAll(' ', '-'),
  )
}
