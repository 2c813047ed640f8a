import { freeze } from '../freeze.ts'
import type { Order, Walk } from './order.ts'

/** How each write of a transaction is taken back, the last one first. */
export type Undo = (() => void)[]

export interface Indexes<Row> {
  /** Rows of one group are found without a look at the others. It never changes for a key. */
  readonly groupOf?: (row: Row) => string
  readonly orders?: readonly Order<Row>[]
}

/** Rows by key. They are frozen, to the ground: whoever is given one cannot change it. */
export class Table<Row> {
  readonly #rows = new Map<string, Row>()
  readonly #groups = new Map<string, Map<string, Row>>()
  readonly #undo: Undo
  readonly #groupOf: ((row: Row) => string) | undefined
  readonly #orders: readonly Order<Row>[]
  readonly #sequences = new Map<string, number>()
  #sequence = 0

  constructor(undo: Undo, { groupOf, orders = [] }: Indexes<Row> = {}) {
    this.#undo = undo
    this.#groupOf = groupOf
    this.#orders = orders
  }

  get size(): number {
    return this.#rows.size
  }

  has(key: string): boolean {
    return this.#rows.has(key)
  }

  get(key: string): Row | undefined {
    return this.#rows.get(key)
  }

  all(): Iterable<Row> {
    return this.#rows.values()
  }

  allOf(group: string): readonly Row[] {
    return [...(this.#groups.get(group)?.values() ?? [])]
  }

  /** In an order that the table keeps. */
  walk(order: Order<Row>, walk?: Walk): Iterable<Row> {
    return order.walk(this.#rows, walk)
  }

  /** What somebody else may have a part of is copied first. */
  put(key: string, row: Row): void {
    this.keep(key, copy(row))
  }

  /** A row that nobody else has a part of, save for what is frozen already. */
  keep(key: string, row: Row): void {
    this.#change(key, freeze(row))
  }

  remove(key: string): void {
    this.#change(key, undefined)
  }

  #change(key: string, row: Row | undefined): void {
    const before = this.#rows.get(key)
    if (before === undefined && row === undefined) return
    this.#undo.push(() => this.#write(key, before, row))
    this.#write(key, row, before)
  }

  #write(key: string, row: Row | undefined, before: Row | undefined): void {
    set(this.#rows, key, row)
    this.#sort(key, row, before)
    const known = row ?? before
    if (this.#groupOf === undefined || known === undefined) return
    const name = this.#groupOf(known)
    const group = this.#groups.get(name) ?? new Map<string, Row>()
    set(group, key, row)
    set(this.#groups, name, group.size === 0 ? undefined : group)
  }

  #sort(key: string, row: Row | undefined, before: Row | undefined): void {
    if (this.#orders.length === 0) return
    const sequence = this.#sequences.get(key) ?? ++this.#sequence
    set(this.#sequences, key, row && sequence)
    for (const order of this.#orders) order.change(key, sequence, before, row)
  }
}

function set<Value>(rows: Map<string, Value>, key: string, value: Value | undefined): void {
  if (value === undefined) rows.delete(key)
  else rows.set(key, value)
}

/** Through JSON: a Date or an undefined becomes what it becomes in a database. */
export function copy<Value>(value: Value): Value {
  return value === undefined ? value : JSON.parse(JSON.stringify(value))
}
