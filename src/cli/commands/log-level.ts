import { wrongUsage } from '../cli-error.ts'
import type { CliCommand } from '../command.ts'
import { refusal } from '../refusal.ts'
import { onBroker, type Session } from '../session.ts'

export function defineCommand(program: CliCommand): void {
  program
    .command('log-level')
    .argument('[area=level...]', 'request=warn, or all=error; off for no lines')
    .description('show what a replica of a broker logs, or change it until it is started again')
    .connectionOptions()
    .examples('purser log-level', 'purser log-level request=off', 'purser log-level all=warn operation=info')
    .action(onBroker(setLevels))
}

async function setLevels(session: Session, wanted: readonly string[]): Promise<void> {
  const response = await session.admin.setLogLevels(Object.fromEntries(wanted.map(readPair)))
  if (response.status !== 200) throw refusal('could not change what is logged', response)
  const { levels = {} } = response.body
  const lines = Object.entries(levels).map(([area, level]) => `${area.padEnd(16)} ${level}\n`)
  session.print({ levels }, lines.join(''))
}

function readPair(pair: string): [string, string] {
  const [, area, level] = /^([a-zA-Z]+)=([a-z]+)$/.exec(pair) ?? []
  if (area !== undefined && level !== undefined) return [area, level]
  throw wrongUsage({
    what: `${JSON.stringify(pair)} is not an area with a level`,
    why: 'they are written as in request=warn',
    next: 'purser log-level shows the areas; levels are info, warn, error and off.',
  })
}
