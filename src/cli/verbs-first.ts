import type { Command } from 'commander'

/**
 * The arguments with the verbs in front, as Commander reads them. People also put options first:
 * `purser --url https://broker.example.com chores list`.
 */
export function verbsFirst(program: Command, args: readonly string[]): readonly string[] {
  const takesValue = new Map(optionsOf(program).map(({ long, required }) => [long, required]))
  const verbs: string[] = []
  const options: string[] = []
  const rest = [...args]
  let command: Command | undefined = program
  while (command !== undefined && command.commands.length > 0) {
    const [first] = rest
    // Options and no verb: the help says which verbs there are.
    if (first === undefined) return [...verbs, ...options.filter(isHelp)]
    const [flag = '', value] = first.split('=', 2)
    if (first.startsWith('-')) {
      const wantsValue = isHelp(flag) ? false : takesValue.get(flag)
      // Nobody knows whether an unknown option takes a value: Commander refuses it.
      if (wantsValue === undefined) return [...verbs, ...rest, ...options]
      options.push(...rest.splice(0, wantsValue && value === undefined ? 2 : 1))
    } else {
      command = command.commands.find(candidate => candidate.name() === first || candidate.aliases().includes(first))
      if (command !== undefined) verbs.push(...rest.splice(0, 1))
    }
  }
  return [...verbs, ...(command === undefined ? [...rest, ...options] : [...options, ...rest])]
}

/** The options of all commands. An option of one name takes a value in all of them or in none. */
export function optionsOf({ options, commands }: Command): Command['options'] {
  return [...options.filter(({ long }) => long !== '--version'), ...commands.flatMap(optionsOf)]
}

function isHelp(flag: string): boolean {
  return flag === '--help' || flag === '-h'
}
