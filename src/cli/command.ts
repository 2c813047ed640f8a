import { Command, InvalidArgumentError, Option } from 'commander'
import { parseDuration } from '../shape/duration.ts'
import { messageOf } from '../shape/thrown.ts'
import { wrongUsage } from './cli-error.ts'
import type { CliIo } from './io.ts'

/** A command, with the arguments, options and help texts that several commands share. */
export class CliCommand extends Command {
  readonly io: CliIo

  constructor(io: CliIo, name?: string) {
    super(name)
    this.io = io
  }

  override createCommand(name?: string): CliCommand {
    return new CliCommand(this.io, name)
  }

  examples(...lines: readonly string[]): this {
    return this.explain('Examples:', ...lines.map(line => `  $ ${line}`))
  }

  /** Lines that the help shows below the options. */
  explain(...lines: readonly string[]): this {
    return this.addHelpText('after', `\n${lines.join('\n')}`)
  }

  instanceArgument(): this {
    return this.argument('<instance>', 'id of the instance', parseInstanceId)
  }

  bindingArgument(): this {
    return this.argument('<binding>', 'id of the binding', parseBindingId)
  }

  outputOption(formats: readonly string[] = ['text', 'json']): this {
    const option = new Option('--output <format>', 'how to print the result')
    return this.addOption(option.choices(formats).default('text'))
  }

  /** One of these, which Tab completes. */
  choiceOption(flags: string, description: string, choices: readonly string[]): this {
    return this.addOption(new Option(flags, description).choices(choices))
  }

  /** For what operators do by hand: it stays in the history. */
  reasonOption(): this {
    return this.requiredOption('--reason <text>', 'why; it is kept in the history')
  }

  /** For lists of a broker's rows. */
  listOptions(): this {
    const order = new Option('--order <order>', 'which come first').choices(['newest', 'oldest'])
    return this.addOption(order.default('newest')).limitOption()
  }

  limitOption(): this {
    return this.option('--limit <count>', 'how many at most', parseLimit, 50).pagerOption()
  }

  /** For what may be longer than a terminal. */
  pagerOption(): this {
    return this.option('--no-pager', 'print a long list as it is, also on a terminal')
  }

  /** For a verb on one operation or instance, or on all that match. */
  manyOptions(): this {
    return this.option('--query <key=value>', 'instead of an id: all that match, as in the list; repeatable', collect)
      .option('--dry-run', 'with --query: only say what would become of each')
      .option('--concurrency <count>', 'with --query: how many at a time', parseLimit)
      .option('--canary <count>', 'with --query: so many first; if one fails, no other is begun', parseLimit)
      .option('--stop-after-failures <count>', 'with --query: begin no other after so many failures', parseLimit)
  }

  /** For commands that work with a store themselves. */
  storeOptions(): this {
    return this.option('--store <url>', 'the store, such as postgres://broker@db.example.com/purser').option(
      '--config <file>',
      'settings (default: purser.yaml in the current folder, if it is there)',
    )
  }

  /** For commands that work with a store themselves, or ask the broker that has it. */
  brokerOptions(): this {
    return this.option('--url <url>', 'ask the broker at this address instead of opening its store')
      .option('--profile <name>', 'the same with the broker of this name; purser profiles lists them')
      .option('--user <name:password>', 'basic credentials (better: PURSER_USERNAME and PURSER_PASSWORD)')
      .option('--token <token>', 'a bearer token instead of --user')
  }

  yesOption(): this {
    return this.option('-y, --yes', 'do not ask; needed where there is no terminal')
  }

  connectionOptions(): this {
    return this.option('--url <url>', 'address of the broker (or PURSER_URL; default: http://127.0.0.1:8080)')
      .option('--profile <name>', 'a broker by its name (or PURSER_PROFILE); purser profiles lists them')
      .option('--user <name:password>', 'basic credentials (better: PURSER_USERNAME and PURSER_PASSWORD)')
      .option('--token <token>', 'a bearer token instead of --user')
      .option('--api-version <version>', 'OSB API version to announce', '2.17')
      .outputOption(['text', 'json', 'jsonl', 'none'])
  }

  /** For commands that change something: whether to wait for its end, and where the broker is. */
  changeOptions(): this {
    const timeout = "longest time to wait, such as 90s or 10m (default: the plan's limit, else 1h)"
    return this.option('--no-wait', 'do not wait for an asynchronous operation; purser status shows how it ends')
      .option('--sync', 'do not accept an asynchronous answer')
      .option('--timeout <duration>', timeout, parseTimeout)
      .connectionOptions()
  }

  parameterOptions(): this {
    const param =
      "a parameter, as the plan's schema has it: else JSON where it parses, else text; a.b=1 nests; repeatable"
    return this.option('--param <key=value>', param, collect)
      .option('--params <json|@file>', 'all parameters as a JSON object; --param goes over it')
      .option('--context <json|@file>', "the platform's context as a JSON object")
  }

  /** For commands on an instance that exists; an update names another plan, and has an option of its own for it. */
  locateOptions(): this {
    this.option('--service <service>', "the instance's service, by name or id, where it is not known (see below)")
    if (this.name() !== 'update')
      this.option('--plan <plan>', "the instance's plan, by name or id, where it is not known (see below)")
    return this.explain(
      'Service and plan of an instance are asked from the broker where it lets instances be fetched;',
      'else they come from .purser/cli.json in the current folder, in which purser remembers the ids of',
      'what it provisioned there (never parameters or credentials); else give --service and --plan.',
    )
  }
}

/** For names that become part of a URL, which drops the path segments "." and "..". */
export function createNameParser(what: string, next: string) {
  return (name: string): string => {
    if (name !== '' && name !== '.' && name !== '..') return name
    throw wrongUsage({ what: `"${name}" cannot be ${what}`, why: 'a URL cannot hold it', next })
  }
}

const idAdvice = 'Give the id that was printed when it was made, or leave --id off for a random one.'
export const parseInstanceId = createNameParser('the id of an instance', idAdvice)
export const parseBindingId = createNameParser('the id of a binding', idAdvice)

export function parsePort(text: string): number {
  const port = Number(text)
  if (/^\d+$/.test(text) && port <= 65_535) return port
  throw new InvalidArgumentError('A port is a number from 0 to 65535.')
}

function parseLimit(text: string): number {
  const limit = Number(text)
  if (/^\d+$/.test(text) && limit > 0) return limit
  throw new InvalidArgumentError('It is a number from 1 on.')
}

export function parseTimeout(text: string): number {
  try {
    return parseDuration(text)
  } catch (error) {
    throw wrongUsage({
      what: '--timeout is not a duration',
      why: messageOf(error),
      next: 'Write a number and a unit, as in 90s, 10m or 2h.',
    })
  }
}

/** For an option that may be given several times. */
export function collect(value: string, before: readonly string[] = []): readonly string[] {
  return [...before, value]
}
