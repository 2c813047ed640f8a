/** How each write of a transaction is taken back, the last one first. */
export type Undo = (() => void)[]

/**
 * Rows by key. They pass through JSON on their way in and out: nobody shares an object with the ledger, and a Date or an
 * undefined becomes what it becomes in a database.
 */
export class Table<Row> {
  readonly #rows = new Map<string, Row>()
  readonly #groups = new Map<string, Map<string, Row>>()
  readonly #undo: Undo
  readonly #groupOf: ((row: Row) => string) | undefined

  /** `groupOf` is an index: rows of one group are found without a look at the others. It never changes for a key. */
  constructor(undo: Undo, groupOf?: (row: Row) => string) {
    this.#undo = undo
    this.#groupOf = groupOf
  }

  has(key: string): boolean {
    return this.#rows.has(key)
  }

  get(key: string): Row | undefined {
    return copy(this.#rows.get(key))
  }

  all(): readonly Row[] {
    return copy([...this.#rows.values()])
  }

  /** The rows themselves, to look through: copies of all of them would cost more than the search. */
  look(): Iterable<Row> {
    return this.#rows.values()
  }

  lookAt(group: string): readonly Row[] {
    return [...(this.#groups.get(group)?.values() ?? [])]
  }

  /** A copy of each row of the group. */
  getAt(group: string): readonly Row[] {
    return copy(this.lookAt(group))
  }

  put(key: string, row: Row): Row {
    return this.keep(key, copy(row))
  }

  /** A row that is a copy already. */
  keep(key: string, row: Row): Row {
    this.#change(key, row)
    return row
  }

  remove(key: string): void {
    this.#change(key, undefined)
  }

  #change(key: string, row: Row | undefined): void {
    const before = this.#rows.get(key)
    this.#undo.push(() => this.#write(key, before, row))
    this.#write(key, row, before)
  }

  #write(key: string, row: Row | undefined, before: Row | undefined): void {
    set(this.#rows, key, row)
    const known = row ?? before
    if (this.#groupOf === undefined || known === undefined) return
    const name = this.#groupOf(known)
    const group = this.#groups.get(name) ?? new Map<string, Row>()
    set(group, key, row)
    set(this.#groups, name, group.size === 0 ? undefined : group)
  }
}

function set<Value>(rows: Map<string, Value>, key: string, value: Value | undefined): void {
  if (value === undefined) rows.delete(key)
  else rows.set(key, value)
}

function copy<Value>(value: Value): Value {
  return value === undefined ? value : JSON.parse(JSON.stringify(value))
}
