import type { Argument, Command, Option } from 'commander'
import type { CliIo } from '../io.ts'
import { findLive, type LiveKind } from './live.ts'

/**
 * What may stand in the place of the last word. Verbs, options and their choices are known here; ids come from the broker,
 * where it answers soon. Nothing where a file may stand: then the shell lists files.
 */
export async function findCandidates(
  program: Command,
  words: readonly string[],
  io: CliIo,
): Promise<readonly string[]> {
  // Bash makes a word of each "=".
  const typed = words.filter((word, index) => word !== '=' && !(word === '--' && index === 0))
  const current = typed.at(-1) ?? ''
  const { command, options, positionals, pending } = readWords(program, typed.slice(0, -1))
  const place = pending ?? placeOf(command, positionals.length)
  const found =
    pending === undefined && current.startsWith('-')
      ? command.options.flatMap(({ long, hidden }) => (long == null || hidden ? [] : [long]))
      : await candidatesFor(command, place, { positionals, options, io })
  return found.filter(candidate => candidate.startsWith(current) && harmless.test(candidate)).slice(0, 200)
}

/** A shell takes each line as one word, as it is: nothing in it may mean more to the shell. */
const harmless = /^[\w./:@%+,=-]+$/

/** Something that a word stands for: an option's value, or an argument. */
type Place = Option | Argument | undefined

interface Read {
  readonly command: Command
  readonly options: Readonly<Record<string, string>>
  readonly positionals: readonly string[]
  /** The option whose value comes next. */
  readonly pending?: Option
}

function readWords(program: Command, words: readonly string[]): Read {
  let command = program
  const options: Record<string, string> = {}
  const positionals: string[] = []
  let pending: Option | undefined
  for (const word of words) {
    if (pending !== undefined) {
      options[pending.attributeName()] = word
      pending = undefined
      continue
    }
    const [flag = '', value] = word.split(/=(.*)/s, 2)
    const option = word.startsWith('-') ? findOption(command, program, flag) : undefined
    if (option?.required && value === undefined) pending = option
    else if (option !== undefined && value !== undefined) options[option.attributeName()] = value
    if (word.startsWith('-')) continue
    const verb = command.commands.find(each => each.name() === word || each.aliases().includes(word))
    if (verb !== undefined && positionals.length === 0) command = verb
    else positionals.push(word)
  }
  return { command, options, positionals, pending }
}

/** Options may stand before their verb, where only the verbs below know them. */
function findOption(command: Command, program: Command, flag: string): Option | undefined {
  const known = (each: Command): Option[] => [...each.options, ...each.commands.flatMap(known)]
  return [...known(command), ...known(program)].find(({ long, short }) => long === flag || short === flag)
}

function placeOf({ registeredArguments }: Command, count: number): Argument | undefined {
  return registeredArguments[count] ?? (registeredArguments.at(-1)?.variadic ? registeredArguments.at(-1) : undefined)
}

interface Asked {
  readonly positionals: readonly string[]
  readonly options: Readonly<Record<string, string>>
  readonly io: CliIo
}

async function candidatesFor(command: Command, place: Place, asked: Asked): Promise<readonly string[]> {
  if (command.commands.length > 0) return asked.positionals.length > 0 ? [] : command.commands.map(verb => verb.name())
  if (place?.argChoices !== undefined) return place.argChoices
  const name = place === undefined ? '' : 'attributeName' in place ? place.attributeName() : place.name()
  const kind = kindOf(command, name)
  return kind === undefined ? [] : findLive(kind, asked)
}

/** What an argument or an option of this name is an id of. Platforms' verbs take names of services, operators' ones their ids. */
function kindOf(command: Command, name: string): LiveKind | undefined {
  const group = command.parent?.name()
  if (group === 'profiles') return name === 'name' ? 'profile' : undefined
  if (group === 'chores') return name === 'name' ? 'chore' : undefined
  if (group === 'bundle') return undefined
  const isOperators = group === 'instances' || group === 'operations' || group === 'gates'
  if (isOperators && (name === 'service' || name === 'plan')) return `${name}-id`
  return kinds.find(kind => kind === name)
}

const kinds = ['instance', 'binding', 'operation', 'batch', 'session', 'service', 'plan', 'what', 'profile'] as const
