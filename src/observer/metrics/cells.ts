/**
 * Numbers under labels, in the text that Prometheus reads. A cell is found by the texts of its labels and then costs no more
 * than an addition: docs/designs/0014-metrics-and-traces.md has what libraries take for it.
 */
export interface Described {
  readonly help: string
  readonly labels: readonly string[]
}

const between = '\u0000'

/** Adds up: `add(1, 'provision', 'postgres')`. */
export class Counter {
  readonly type: 'counter' | 'gauge' = 'counter'
  readonly #cells = new Map<string, number>()

  add(value: number, ...labels: readonly string[]): void {
    const key = labels.join(between)
    this.#cells.set(key, (this.#cells.get(key) ?? 0) + value)
  }

  *samples(): Iterable<Sample> {
    for (const [key, value] of this.#cells) yield { labels: key.split(between), value }
  }
}

/** What a scrape finds. It is filled for each. */
export class Gauge extends Counter {
  override readonly type = 'gauge'
}

export class Histogram {
  readonly type = 'histogram'
  readonly #bounds: readonly number[]
  readonly #cells = new Map<string, HistogramCell>()

  constructor(bounds: readonly number[]) {
    this.#bounds = bounds
  }

  observe(seconds: number, key: string): void {
    this.cell(key).observe(seconds)
  }

  /** Where what has these labels is counted, for whoever needs it often. */
  cell(key: string): HistogramCell {
    let cell = this.#cells.get(key)
    if (cell === undefined) {
      cell = new HistogramCell(this.#bounds)
      this.#cells.set(key, cell)
    }
    return cell
  }

  *samples(): Iterable<Sample> {
    for (const [key, { sum, counts }] of this.#cells) {
      const labels = key.split(between)
      let count = 0
      for (const [place, many] of counts.entries()) {
        count += many
        const bound = this.#bounds[place]
        yield { suffix: '_bucket', labels, bound: bound === undefined ? '+Inf' : String(bound), value: count }
      }
      yield { suffix: '_sum', labels, value: sum }
      yield { suffix: '_count', labels, value: count }
    }
  }
}

export class HistogramCell {
  readonly #bounds: readonly number[]
  readonly counts: Float64Array
  sum = 0

  constructor(bounds: readonly number[]) {
    this.#bounds = bounds
    this.counts = new Float64Array(bounds.length + 1)
  }

  observe(seconds: number): void {
    this.sum += seconds
    let place = 0
    while (place < this.#bounds.length && seconds > (this.#bounds[place] ?? 0)) place += 1
    this.counts[place] = (this.counts[place] ?? 0) + 1
  }
}

interface Sample {
  readonly suffix?: string
  readonly labels: readonly string[]
  readonly bound?: string
  readonly value: number
}

export type Metric = Counter | Gauge | Histogram

/** The key of a histogram's cell. Put together by hand: `join` takes several times as long. */
export function keyOf(first: string, second: string, third?: string): string {
  const key = first + between + second
  return third === undefined ? key : key + between + third
}

export function toText(name: string, { help, labels: names }: Described, metric: Metric): string {
  let text = `# HELP ${name} ${help}\n# TYPE ${name} ${metric.type}\n`
  for (const { suffix = '', labels, bound, value } of metric.samples()) {
    const pairs = names.map((label, index) => `${label}="${quoted(labels[index] ?? '')}"`)
    if (bound !== undefined) pairs.push(`le="${bound}"`)
    text += `${name}${suffix}${pairs.length === 0 ? '' : `{${pairs.join(',')}}`} ${value}\n`
  }
  return text
}

function quoted(value: string): string {
  return value.replaceAll(/[\\"\n]/g, character => (character === '\n' ? '\\n' : `\\${character}`))
}
