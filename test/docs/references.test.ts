import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { adminRoutes } from '../../src/http/admin/routes.ts'
import { errorStatus } from '../../src/protocol/errors.ts'
import { readHelp } from './help.ts'
import { readPage, root, rowsUnder, sectionOf } from './pages.ts'

describe('docs/reference/errors.md', () => {
  it('lists every error with its status, and no other', () => {
    const rows = rowsUnder('docs/reference/errors.md', 'Errors')
    const listed = rows.map(([code = '', status]) => [code.replaceAll('`', ''), Number(status)] as const)
    expect(listed.length).toBe(new Set(listed.map(([code]) => code)).size)
    expect(Object.fromEntries(listed)).toEqual(errorStatus)
  })
})

describe('docs/reference/admin-api.md', () => {
  it('lists every route with the role that it needs, and no other', () => {
    const rows = rowsUnder('docs/reference/admin-api.md', 'Endpoints')
    const listed = rows.map(([request = '', role = '']) => `${request} ${role}`.replaceAll('`', ''))
    const routes = Object.entries(adminRoutes).map(
      ([path, { method, role }]) => `${method} ${path.replace(/^\w+ /, '')} ${role}`,
    )
    expect(listed).toEqual(routes)
  })
})

describe('docs/reference/cli.md', async () => {
  const page = 'docs/reference/cli.md'
  const commands = await readHelp()
  const groups = ['connection', 'waiting', 'parameters', 'service and plan']

  it('has a section for every command, and for no other', () => {
    const sections = [...readPage(page).matchAll(/^## purser (.*)$/gm)].map(match => match[1])
    expect(commands.size).toBeGreaterThan(5)
    expect(sections).toEqual([...commands.keys()])
  })

  it.each([...commands])('describes %s as its help does', (name, { usage, options }) => {
    const section = sectionOf(page, `purser ${name}`)
    expect(section).toContain(`\`${usage}\``)
    const linked = groups.filter(group => section.includes(`[${group}](#`))
    const rows = [`purser ${name}`, ...linked].flatMap(heading => rowsUnder(page, heading))
    const described = rows.map(([flag = '', meaning]) => [flag.replaceAll('`', ''), meaning] as const)
    expect(described.toSorted()).toEqual([...options].toSorted())
  })
})

describe('docs/reference/author-api.md', () => {
  const page = 'docs/reference/author-api.md'
  // Offering and Plan have a page of their own.
  const documented = [...readPage(page).matchAll(/^### (\w+)$/gm)]
    .map(match => match[1] ?? '')
    .filter(name => name !== 'Offering' && name !== 'Plan')
  const sources = [
    'author/backend.ts',
    'author/broker-definition.ts',
    'author/context.ts',
    'author/define-service.ts',
    'author/results.ts',
    'create-broker.ts',
    'engine/call.ts',
    'engine/errors.ts',
  ].map(file => readFileSync(join(root, 'src', file), 'utf8'))

  it('names everything that the package exports', () => {
    const index = readFileSync(join(root, 'src', 'index.ts'), 'utf8')
    const listed = [...index.matchAll(/^export(?: type)? \{([^}]*)\}/gm)].flatMap(([, names = '']) =>
      names.split(',').map(name => name.replace('type ', '').trim()),
    )
    const whole = [...index.matchAll(/^export(?: type)? \* from '(.*)'/gm)].flatMap(([, file = '']) => {
      const text = readFileSync(join(root, 'src', file), 'utf8')
      return [...text.matchAll(/^export (?:interface|type|function) (\w+)/gm)].map(match => match[1] ?? '')
    })
    const exported = [...listed, ...whole]
    expect(exported.length).toBeGreaterThan(70)
    for (const name of exported.filter(Boolean)) expect(readPage(page), name).toMatch(new RegExp(`\\b${name}\\b`))
  })

  it.each(documented)('lists the fields of %s, and no other', name => {
    const fields = rowsUnder(page, name).map(([field = '']) => field.replaceAll('`', ''))
    expect(fields).toEqual(fieldsOf(name, sources))
  })
})

/** The members of an interface, in the order of its source. */
function fieldsOf(name: string, sources: readonly string[]): readonly string[] {
  for (const source of sources) {
    const [, body] = new RegExp(`^export interface ${name}\\b[\\s\\S]*?\\{\\n([\\s\\S]*?)^\\}`, 'm').exec(source) ?? []
    if (body !== undefined) return [...body.matchAll(/^ {2}(?:readonly )?(\w+)\??[(:<]/gm)].map(match => match[1] ?? '')
  }
  throw new Error(`no source has an interface ${name}`)
}
