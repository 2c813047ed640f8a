/** The commands of a line of shell, as lists of words, as far as documents need it: quotes, pipes, `&&`, `$(…)`, comments. */
export function commandsOf(line: string): readonly (readonly string[])[] {
  const words = line.match(/"[^"]*"|'[^']*'|&&|\$\(|[|;()]|[^\s"'|;()$]+|\$/g) ?? []
  const commands: string[][] = [[]]
  for (const word of words) {
    if (word.startsWith('#')) break
    if (/^(&&|\$\(|[|;()])$/.test(word)) commands.push([])
    else commands.at(-1)?.push(word)
    const inner = /^"(.*\$\(.*)"$/.exec(word)?.[1]
    if (inner !== undefined) commands.unshift(...commandsOf(inner).map(command => [...command]))
  }
  return commands.map(withoutRedirection).filter(command => command.length > 0)
}

/** The arguments of `purser`, however it is called; undefined for any other command. */
export function purserArguments(command: readonly string[]): readonly string[] | undefined {
  const first = command.findIndex(word => !/^[A-Z_]+=/.test(word))
  const [name, second] = command.slice(first)
  if (name === 'purser') return command.slice(first + 1)
  if (name === 'npx' && second === 'purser') return command.slice(first + 2)
  if (name === 'node' && second?.endsWith('bin/purser.js')) return command.slice(first + 2)
  return undefined
}

function withoutRedirection(command: readonly string[]): string[] {
  return command.filter((word, index) => !/^\d?[<>]/.test(word) && !/^\d?[<>]+$/.test(command[index - 1] ?? ''))
}
