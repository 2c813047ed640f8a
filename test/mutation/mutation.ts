/** A guard that is switched off by replacing its text. */
export interface Mutation {
  readonly name: string
  readonly file: string
  /** Every place where this stands is replaced. */
  readonly find: string
  readonly replace: string
  /** Test files of which at least one test must fail. */
  readonly suite: readonly string[]
  /** Only tests whose names match, where the files are slow. */
  readonly only?: string
  /** Without the guard its test waits for ever. For others, a test that runs out of time is only slow, and shows nothing. */
  readonly hangs?: true
  /** What the tests need a server of; `apiServer` is one of Kubernetes. */
  readonly needs?: 'postgres' | 'mongodb' | 'apiServer'
}
