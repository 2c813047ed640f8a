import { runCli } from '../cli/test-io.ts'

export interface CommandHelp {
  /** As in `purser provision [options] <service> <plan>`. */
  readonly usage: string
  /** `--id <id>` -> its description. */
  readonly options: ReadonlyMap<string, string>
  readonly minArguments: number
  readonly maxArguments: number
}

/** Every command of the program, as its own help describes it. */
export async function readHelp(): Promise<ReadonlyMap<string, CommandHelp>> {
  const { out } = await runCli(['--help'])
  const names = [...out.matchAll(/^ {2}([a-z][a-z-]*)\b/gm)]
    .map(match => match[1] ?? '')
    .filter(name => name !== 'help')
  return new Map(await Promise.all(names.map(async name => [name, await readCommand(name)] as const)))
}

async function readCommand(name: string): Promise<CommandHelp> {
  const { out } = await runCli([name, '--help'])
  const usage = /^Usage: (.*)$/m.exec(out)?.[1] ?? ''
  const required = usage.match(/<[^>]+>/g)?.length ?? 0
  const optional = (usage.match(/\[[^\]]+\]/g) ?? []).filter(part => part !== '[options]').length
  return { usage, options: readOptions(out), minArguments: required, maxArguments: required + optional }
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
