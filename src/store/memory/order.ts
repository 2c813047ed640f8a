/** Where a row stands: its time, and what tells rows of the same time apart. */
export type Place = readonly [time: number, ...(string | number)[]]

/** `sequence` rises with each row that is new in its table. */
type PlaceOf<Row> = (row: Row, sequence: number) => Place | undefined

interface Entry {
  readonly key: string
  readonly place: Place
}

export interface Walk {
  readonly descending?: boolean
  /** Only what comes after this place. */
  readonly after?: Place
  /** Times from this one on, and before that one. */
  readonly from?: number
  readonly before?: number
}

/** An index: the keys of rows in the order of their places. Rows without one are left out. */
export class Order<Row> {
  readonly #entries: Entry[] = []
  readonly #placeOf: PlaceOf<Row>

  constructor(placeOf: PlaceOf<Row>) {
    this.#placeOf = placeOf
  }

  change(key: string, sequence: number, before: Row | undefined, row: Row | undefined): void {
    const old = before && this.#placeOf(before, sequence)
    const place = row && this.#placeOf(row, sequence)
    if (old !== undefined && place !== undefined && compare(old, place) === 0) return
    if (old !== undefined) this.#remove(this.#search(old))
    if (place !== undefined) this.#entries.splice(this.#search(place), 0, { key, place })
  }

  #remove(index: number): void {
    // Most that move are the first, whose turn it was: that moves no others.
    if (index === 0) this.#entries.shift()
    else this.#entries.splice(index, 1)
  }

  get size(): number {
    return this.#entries.length
  }

  /** `rows`: those of the table. */
  *walk(rows: ReadonlyMap<string, Row>, walk: Walk = {}): Iterable<Row> {
    const { descending = false, after, from = -Infinity, before = Infinity } = walk
    let index = descending ? this.#search([before]) - 1 : this.#search([from])
    if (after !== undefined) {
      const found = this.#search(after)
      const isThere = found < this.#entries.length && compare(this.#entries[found]?.place ?? after, after) === 0
      index = descending ? Math.min(index, found - 1) : Math.max(index, isThere ? found + 1 : found)
    }
    for (let entry = this.#entries[index]; entry !== undefined; entry = this.#entries[index]) {
      const [time] = entry.place
      if (time < from || time >= before) return
      const row = rows.get(entry.key)
      if (row !== undefined) yield row
      index += descending ? -1 : 1
    }
  }

  /** Of the first entry that is not before this place. */
  #search(place: Place): number {
    let low = 0
    let high = this.#entries.length
    // Most rows are put behind all others.
    const last = this.#entries[high - 1]
    if (last === undefined || compare(last.place, place) < 0) return high
    while (low < high) {
      const middle = (low + high) >>> 1
      const entry = this.#entries[middle]
      if (entry !== undefined && compare(entry.place, place) < 0) low = middle + 1
      else high = middle
    }
    return low
  }
}

/** A time alone comes before all that has this time. */
export function compare(one: Place, other: Place): number {
  if (one[0] !== other[0]) return one[0] - other[0]
  for (let index = 1; index < one.length; index++) {
    const value = one[index]
    const against = other[index]
    if (value !== against) return value !== undefined && against !== undefined && value < against ? -1 : 1
  }
  return one.length - other.length
}
