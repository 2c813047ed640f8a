/** One thing that is wrong with the configuration: where, which setting, and what to do about it. */
export interface Mistake {
  /** `purser.yaml:12`, `PURSER_PORT`, `--port`; absent for what stands nowhere. */
  readonly where?: string | undefined
  /** The setting, such as `server.port` or `auth.basic[0].username`. */
  readonly path?: string | undefined
  readonly problem: string
}

/** Every mistake of a configuration, a line each. No line holds a secret's value. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError'
  readonly mistakes: readonly Mistake[]

  constructor(mistakes: readonly Mistake[]) {
    const count = mistakes.length === 1 ? 'a mistake' : `${mistakes.length} mistakes`
    super([`The configuration has ${count}:`, ...mistakes.map(mistake => `  ${formatMistake(mistake)}`)].join('\n'))
    this.mistakes = mistakes
  }
}

export function formatMistake({ where, path, problem }: Mistake): string {
  const head = [where, path].filter(part => part !== undefined).join(' ')
  return head === '' ? problem : `${head}: ${problem}`
}
