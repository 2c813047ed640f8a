import { runCli } from '../cli/test-io.ts'

export interface CommandHelp {
  /** As in `purser provision [options] <service> <plan>`. */
  readonly usage: string
  /** `--id <id>` -> its description. */
  readonly options: ReadonlyMap<string, string>
  readonly minArguments: number
  readonly maxArguments: number
}

/** Every command of the program by its words, such as `status` or `chores list`, as its own help describes it. */
export async function readHelp(words: readonly string[] = []): Promise<ReadonlyMap<string, CommandHelp>> {
  const { out } = await runCli([...words, '--help'])
  const names = namesIn(out)
  if (names.length === 0) return new Map([[words.join(' '), readCommand(out)]])
  const inner = await Promise.all(names.map(name => readHelp([...words, name])))
  return new Map(inner.flatMap(commands => [...commands]))
}

function namesIn(help: string): readonly string[] {
  // The options come first, and the examples last.
  const [, commands = ''] = /^Options:\n(?: {2}.*\n)+([\s\S]*?)^Examples:/m.exec(help) ?? []
  const names = [...commands.matchAll(/^ {2}([a-z][a-z-]*)\b/gm)].map(match => match[1] ?? '')
  return names.filter(name => name !== 'help')
}

function readCommand(out: string): CommandHelp {
  const usage = /^Usage: (.*)$/m.exec(out)?.[1] ?? ''
  const required = usage.match(/<[^>]+>/g)?.length ?? 0
  const optional = (usage.match(/\[[^\]]+\]/g) ?? []).filter(part => part !== '[options]')
  const most = optional.some(part => part.endsWith('...]')) ? Number.POSITIVE_INFINITY : required + optional.length
  return { usage, options: readOptions(out), minArguments: required, maxArguments: most }
}

function readOptions(help: string): ReadonlyMap<string, string> {
  const [, section = ''] = /^Options:\n((?: {2}.*\n)+)/m.exec(help) ?? []
  const options = new Map<string, string>()
  let current = ''
  for (const line of section.trimEnd().split('\n')) {
    const [, flag, text] = /^ {2}(-\S.*?) {2,}(\S.*)$/.exec(line) ?? []
    if (flag !== undefined) current = flag
    const before = flag === undefined ? `${options.get(current)} ` : ''
    options.set(current, before + (text ?? line.trim()))
  }
  options.delete('-h, --help')
  return options
}
