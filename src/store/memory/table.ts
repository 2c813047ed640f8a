/** How each write of a transaction is taken back, the last one first. */
export type Undo = (() => void)[]

/**
 * Rows by key. They pass through JSON on their way in and out: nobody shares an object with the ledger, and a Date or an
 * undefined becomes what it becomes in a database.
 */
export class Table<Row> {
  readonly #rows = new Map<string, Row>()
  readonly #undo: Undo

  constructor(undo: Undo) {
    this.#undo = undo
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

  put(key: string, row: Row): void {
    this.#undoable(key)
    this.#rows.set(key, copy(row))
  }

  remove(key: string): void {
    this.#undoable(key)
    this.#rows.delete(key)
  }

  #undoable(key: string): void {
    const before = this.#rows.get(key)
    this.#undo.push(() => (before === undefined ? this.#rows.delete(key) : this.#rows.set(key, before)))
  }
}

function copy<Value>(value: Value): Value {
  return value === undefined ? value : JSON.parse(JSON.stringify(value))
}
