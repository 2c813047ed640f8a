import { describe, expect, it } from 'vitest'
import { parse, stringify } from 'yaml'
import { readIndex } from './index-file.ts'

const read = (text: string) => readIndex(text).map(({ describe: look, ...chart }) => ({ ...chart, ...look() }))

/** As Helm writes it, with all that could be mistaken for something else. */
const written = `apiVersion: v1
entries:
  # Charts.
  cache:
  - apiVersion: v2
    description: |
      A cache

      # no comment
      - no item
      version: 9.9.9
    dependencies:
    - name: common
      repository: oci://charts.example
      version: 2.x.x
    - version: 3.0.0
      name: other
    digest: ${'a'.repeat(64)}
    urls:
    - https://charts.example/cache-1.10.0.tgz
    version: 1.10.0

  - urls: [cache-1.9.0.tgz]
    version: "1.9.0"
  - version: '1.11.0-rc.1'
    urls:
    - cache-1.11.0-rc.1.tgz
  "quoted.name":
    - description: "over
        two lines"
      urls:
        - q.tgz
      version: 2.0.0+build
    - { version: 1.0.0, urls: [old.tgz] }
  empty:
generated: "2030-01-01T00:00:00Z"
`
const charts = [
  {
    name: 'cache',
    description: 'A cache\n\n# no comment\n- no item\nversion: 9.9.9\n',
    versions: ['1.11.0-rc.1', '1.10.0', '1.9.0'],
    newest: '1.10.0',
    archive: 'https://charts.example/cache-1.10.0.tgz',
    sha256: 'a'.repeat(64),
  },
  {
    name: 'quoted.name',
    description: 'over two lines',
    versions: ['2.0.0+build', '1.0.0'],
    newest: '2.0.0+build',
    archive: 'q.tgz',
  },
]

describe('an index of charts', () => {
  it.each([
    ['as Helm writes it', written],
    ['with other line ends', written.replaceAll('\n', '\r\n')],
    ['as JSON', JSON.stringify(parse(written))],
    ['with braces', stringify(parse(written), { defaultStringType: 'QUOTE_DOUBLE', collectionStyle: 'flow' })],
    ['with keys in quotes', stringify(parse(written), { defaultKeyType: 'QUOTE_DOUBLE', indentSeq: false })],
    ['with other indentation', stringify(parse(written), { indent: 7 })],
  ])('is read %s', (_, text) => {
    expect(read(text)).toEqual(charts)
  })

  it('may have thousands of releases, of which only the newest are looked into', () => {
    const release = (version: number) => `  - description: ${'words '.repeat(30)}
    broken: ${version === 99 ? 'no' : '{'}
    urls:
    - c-${version}.tgz
    version: 1.${version}.0
`
    const chart = Array.from({ length: 100 }, (_, version) => release(version)).join('')
    const text = `entries:\n${Array.from({ length: 100 }, (_, number) => `  c${number}:\n${chart}`).join('')}`
    expect(text.length).toBeGreaterThan(2 * 1024 * 1024)
    const found = read(text)
    expect(found).toHaveLength(100)
    expect(found.at(-1)).toMatchObject({ name: 'c99', newest: '1.99.0', archive: 'c-99.tgz' })
    expect(found.at(-1)?.versions).toHaveLength(100)
  })

  it('has no place for a release that cannot be read', () => {
    const [chart] = read('entries:\n  a:\n  - version: 1.0.0\n    urls: [')
    expect(chart).toEqual({ name: 'a', versions: ['1.0.0'], newest: '1.0.0', description: 'The Helm chart a' })
  })

  it.each([
    ['whose releases hide their versions', `entries:\n  a:\n${'  - { version: 1.0.0 }\n'.repeat(60_000)}`],
    ['that is written in an unusual way', `entries: {\n${'a: [],\n'.repeat(160_000)}}`],
  ])('is refused where it is long and one %s', (_, text) => {
    expect(() => readIndex(text)).toThrow('not an index of charts')
  })
})
