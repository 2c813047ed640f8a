import type { ActBody, ChainBody, EntryBody } from '../../client/index.ts'
import type { Link } from '../../domain/chain.ts'
import type { Verb } from '../../domain/operator.ts'
import { CliError, wrongUsage } from '../cli-error.ts'
import type { CliCommand } from '../command.ts'
import { readList } from '../read-list.ts'
import { refusal } from '../refusal.ts'
import { renderFields } from '../render/fields.ts'
import { renderTable } from '../render/tables.ts'
import { onBroker, type Session } from '../session.ts'
import type { ChainSource } from '../verify-chain.ts'

export function defineCommand(program: CliCommand): void {
  const history = program
    .command('history')
    .description('show, export and verify what was done, and by whom')
    .examples('purser history list --by ops', 'purser history verify')
  history
    .command('list')
    .description('list what operators did by hand, and who signed in to the console')
    .option('--by <name>', 'what one of them did')
    .choiceOption('--verb <verb>', 'what was done so', Object.keys(verbs))
    .option('--instance <id>', 'what was done to one instance')
    .option('--since <time>', 'from then on, such as 2026-01-01T00:00:00Z')
    .option('--until <time>', 'earlier')
    .listOptions()
    .connectionOptions()
    .examples(
      'purser history list --by ops',
      'purser history list --verb refuse-sign-in',
      'purser history list --verb abandon --output jsonl',
    )
    .action(onBroker(listHistory))
  history
    .command('verify')
    .description('walk through the whole history: is a line missing, was one changed or put in?')
    .option('--head <no:hash>', 'the head that an earlier verify has printed: the chain must still hold it', parseHead)
    .connectionOptions()
    .explain('The exit code is 5 where something is wrong. Keep the head somewhere else than in the database.')
    .examples(
      'purser history verify',
      'purser history verify --head 1204:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
    )
    .action(onBroker(verifyHistory))
  history
    .command('export')
    .description('write every line of the history with its hash to stdout, a JSON object a line')
    .connectionOptions()
    .explain('What platforms asked for and how it ended is in it, and what operators did.')
    .examples('purser history export > history.ndjson')
    .action(onBroker(exportHistory))
}

/** All there are; help must not load the code that has them. */
const verbs: Readonly<Record<Verb, true>> = {
  retry: true,
  cancel: true,
  fail: true,
  hold: true,
  release: true,
  'run-now': true,
  move: true,
  abandon: true,
  observe: true,
  sweep: true,
  adopt: true,
  'remove-orphan': true,
  'rotate-keys': true,
  'close-gate': true,
  'open-gate': true,
  'start-batch': true,
  'stop-batch': true,
  'run-chore': true,
  'sign-in': true,
  'refuse-sign-in': true,
  'end-session': true,
}

interface Flags {
  readonly by?: string
  readonly verb?: string
  readonly instance?: string
  readonly since?: string
  readonly until?: string
}

async function listHistory(session: Session, { by, verb, instance: instance_id, since, until }: Flags): Promise<void> {
  const query = { by, verb, instance_id, since, until }
  const list = await readList(session, 'acts', page => session.admin.history({ ...query, ...page }))
  await session.show(list, render(list.items))
}

function render(acts: readonly ActBody[]): string {
  if (acts.length === 0) return 'Nobody has done anything of that kind.\n'
  const rows = acts.map(act => {
    const { at, by = '-', verb, operation_id = '-', reason, message = '' } = act
    return [at, by, verb, aboutOf(act), operation_id, reason ?? message]
  })
  return renderTable([['AT', 'BY', 'VERB', 'ABOUT', 'OPERATION', 'REASON'], ...rows])
}

/** An instance; where it is about none, whose session, which batch, chore or gate it was, and from where. */
function aboutOf({ instance_id, principal, address, before, after }: ActBody): string {
  const { batch, chore, action, service_id, plan_id } = { ...before, ...after }
  const words = [principal, batch, chore, action, service_id, plan_id, address && `from ${address}`]
  return instance_id || words.filter(Boolean).join(' ') || '-'
}

async function verifyHistory(session: Session, { head: known }: { readonly head?: Link }): Promise<void> {
  const { verifyChain } = await import('../verify-chain.ts')
  const { lines, status, fault } = await verifyChain(createSource(session), known)
  const { anchor, head, unlinked, key } = status
  const result = {
    lines,
    first: anchor.no + 1,
    head: `${head.no}:${head.hash}`,
    not_yet_in_the_chain: unlinked,
    proven_by: key === undefined ? 'no key' : `the key "${key}"`,
  }
  if (fault === undefined) {
    session.print({ ok: true, ...result }, `${renderFields(result)}Nothing is missing, and nothing was changed.\n`)
    return
  }
  const next =
    'Find out who can write to the database. A backup, or an export of the history, shows what the lines were before.'
  const told = { ok: false, ...result, fault: { ...fault } }
  throw new CliError(5, { what: 'the history is not as it was', why: fault.message, next }, told)
}

async function exportHistory(session: Session): Promise<void> {
  const { lines, status } = createSource(session)
  const { anchor } = await status()
  for (let last = anchor.no; ; ) {
    const page = await lines(last)
    for (const line of page) session.io.stdout.write(`${JSON.stringify(line)}\n`)
    const end = page.at(-1)
    if (end === undefined) return
    last = end.no
  }
}

function createSource({ admin }: Session): ChainSource {
  return {
    async status() {
      const response = await admin.chain()
      if (response.status !== 200 || response.body.head === undefined)
        throw refusal('could not read the history', response)
      return response.body as ChainBody
    },
    async lines(after): Promise<readonly EntryBody[]> {
      const response = await admin.entries(after)
      if (response.status !== 200 || !Array.isArray(response.body.items))
        throw refusal('could not read the history', response)
      return response.body.items
    },
  }
}

function parseHead(text: string): Link {
  const [, no, hash] = /^(\d{1,15}):([0-9a-f]{64})$/.exec(text) ?? []
  if (no !== undefined && hash !== undefined) return { no: Number(no), hash }
  throw wrongUsage({
    what: `"${text}" is not the head of a chain`,
    why: 'it is a number, a colon, and 64 hexadecimal digits',
    next: 'Give what purser history verify has printed as head.',
  })
}
