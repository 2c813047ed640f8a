import parse from 'parse-prometheus-text-format'
import type { TestBroker } from '../../src/testing/test-broker.ts'

export type Labels = Readonly<Record<string, string>>

interface Parsed {
  readonly name: string
  readonly type: string
  readonly metrics: readonly {
    readonly value?: string
    readonly labels?: Labels
  }[]
}

export interface Scraped {
  readonly text: string
  readonly names: readonly string[]
  /** The sum over all series that have these labels; of a histogram, how often something was observed. */
  value(name: string, labels?: Labels): number | undefined
  series(name: string): readonly Labels[]
}

/** Reads /metrics with somebody else's parser. */
export async function scrape(
  { fetch, url }: Pick<TestBroker, 'fetch' | 'url'>,
  headers: Labels = {},
): Promise<Scraped> {
  const response = await fetch(new Request(`${url}/metrics`, { headers }))
  const text = await response.text()
  if (response.status !== 200) throw new Error(`${response.status} ${text}`)
  const families = parse(text) as readonly Parsed[]
  // The parser mixes up the cells of a histogram: their counts are read as counters.
  const counts = parse(toCounts(text)) as readonly Parsed[]
  const find = (name: string) =>
    [...counts, ...families].find(family => family.name === `${name}_count` || family.name === name)?.metrics ?? []
  return {
    text,
    names: families.map(({ name }) => name),
    value(name, labels = {}) {
      const found = find(name).filter(({ labels: own = {} }) =>
        Object.entries(labels).every(([label, value]) => own[label] === value),
      )
      return found.length === 0 ? undefined : found.reduce((sum, { value }) => sum + Number(value), 0)
    },
    series: name => find(name).map(({ labels = {} }) => labels),
  }
}

function toCounts(text: string): string {
  const lines = text.split('\n').flatMap(line => {
    const [, histogram] = /^# TYPE (\w+) histogram$/.exec(line) ?? []
    if (histogram !== undefined) return [`# TYPE ${histogram}_count counter`]
    return /^\w+_count[ {]/.test(line) ? [line] : []
  })
  return `${lines.join('\n')}\n`
}
