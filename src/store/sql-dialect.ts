/** What the databases do differently. */
export interface Dialect {
  /** The name of a table as statements write it. */
  table(name: 'instance' | 'binding' | 'operation' | 'history'): string
  /** What stands in the columns of ids. */
  id(id: string): string
  /** The operations of an instance, and its history. */
  operationsOf(instanceId: string | undefined): Condition
  eventsOf(instanceId: string | undefined): Condition
  /** What a row of an instance is read by: its key, or a number that its indexes have anyway. */
  instanceKey: string
  /** Counts instances that live by service, plan, phase and usability: of each kind the key of one as `one`, and `instances`. */
  countedInstances: string
  /** Reads the operations that are active by their index, and lets nothing of the rest of the statement change that. */
  activeOperations: string
  /** A column of text that is compared without leading to its index. */
  beside(column: string): string
  /** Joins `active`, the active operations, with the steps of each that have failed, as `s`. */
  failedSteps: string
  /** What stands in a column that repeats a part of the document, for a text from outside. */
  generated(name: string): string
  /** A number in the document of a row; null where there is none. A path with dots leads to the first field of an object. */
  numberIn(doc: string, path: string): string
}

export type Value = string | number | undefined

/** Its values are missing where nothing asks for it. */
export type Condition = readonly [text: string, ...values: Value[]]
