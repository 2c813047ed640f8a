import type { BatchBody, BatchOrderBody } from '../client/index.ts'
import { sleep } from '../clock.ts'
import { count } from '../shape/count.ts'
import { failedInPart, wrongUsage } from './cli-error.ts'
import { confirm } from './confirm.ts'
import { interruptible } from './io.ts'
import { refusal } from './refusal.ts'
import { renderBatchItems } from './render/batches.ts'
import { renderFields } from './render/fields.ts'
import type { Session } from './session.ts'
import { showCount } from './show-count.ts'

/** The options of a verb that takes many. */
export interface ManyFlags {
  readonly query?: readonly string[]
  readonly dryRun?: boolean
  readonly concurrency?: number
  readonly canary?: number
  readonly stopAfterFailures?: number
  readonly reason?: string
  readonly yes?: boolean
}

/** What a verb is about: the filter of a batch is called `operations` or `instances`. */
export type Kind = 'operation' | 'instance'

/** Whether the flags ask for many; refuses where it is not clear. */
export function isMany(kind: Kind, name: string | undefined, flags: ManyFlags): boolean {
  const { query } = flags
  if ((name === undefined) === (query !== undefined)) {
    const alone = query === undefined ? onlyForMany.find(([key]) => flags[key] !== undefined) : undefined
    if (alone === undefined) return query !== undefined
    throw wrongUsage({
      what: `${alone[1]} is for many`,
      why: `it says how to go through all that match, and this is about one ${kind}`,
      next: `Leave ${alone[1]} off, or give --query instead of the id.`,
    })
  }
  throw wrongUsage({
    what: name === undefined ? `nothing says which ${kind}` : `there is an ${kind} and --query`,
    why: `a verb takes the id of one ${kind}, or --query for all that match`,
    next: 'Give one of the two.',
  })
}

/** A dry run of one would be taken for what it is not: nothing but a batch has one. */
const onlyForMany = [
  ['dryRun', '--dry-run'],
  ['concurrency', '--concurrency'],
  ['canary', '--canary'],
  ['stopAfterFailures', '--stop-after-failures'],
] as const

/** What is done to many of a kind; `more` is what the verb takes besides. */
interface ManyOrder {
  readonly kind: Kind
  readonly action: string
  readonly more?: BatchOrderBody
}

/** Looks first, asks, and then acts on exactly what was seen, each decided again; waits for the end. */
export async function actOnMany(session: Session, { kind, action, more = {} }: ManyOrder, flags: ManyFlags) {
  const { reason, concurrency, canary, stopAfterFailures: stop_after_failures } = flags
  if (reason === undefined)
    throw wrongUsage({ what: 'there is no --reason', why: 'what is done to many needs one', next: 'Add --reason.' })
  const filter = { [`${kind}s`]: readQuery(flags) }
  const order = { action, ...filter, reason, concurrency, canary, stop_after_failures, ...more }
  const planned = await session.admin.createBatch({ ...order, dry_run: true })
  if (planned.status !== 200) throw refusal(`could not plan to ${action}`, planned)
  const { token = '', total, allowed = 0, refused = 0, items = [] } = planned.body
  if (flags.dryRun === true) return session.print(planned.body, renderPlan(planned.body))
  if (total === 0) return session.print(planned.body, 'Nothing matches.\n')
  const some = items.length > 0 && session.options.output === 'text' ? renderBatchItems(items.slice(0, 10)) : ''
  if (flags.yes !== true) session.note(`${some}${count(allowed, kind)} of ${total}; ${refused} would be refused.`)
  await confirm(session, `${action} ${count(total, kind)}?`, flags.yes)
  const begun = await session.admin.createBatch({ token })
  if (begun.status !== 202) throw refusal(`could not ${action}`, begun)
  const ended = await watch(session, begun.body)
  if (ended.state === 'done' && ended.refused === 0) return session.printFields(ended)
  throw failedInPart(
    {
      what: `the batch ${ended.id} is ${ended.state}`,
      why: `${ended.done} done, ${ended.refused} refused, ${ended.left} left${ended.why === undefined ? '' : `: ${ended.why}`}`,
      next: `purser batches items ${ended.id} shows how each has ended.`,
    },
    ended,
  )
}

function renderPlan({ items = [], total, allowed, refused, token }: BatchBody): string {
  return `${renderBatchItems(items)}\n${renderFields({ total, allowed, refused, token })}`
}

function readQuery({ query = [] }: ManyFlags): Readonly<Record<string, string | boolean>> {
  return Object.fromEntries(
    query.map(pair => {
      const equals = pair.indexOf('=')
      const [key, value] = [pair.slice(0, equals), pair.slice(equals + 1)]
      // Of all filters this one alone is not a text.
      if (equals > 0) return [key, key === 'usable' && /^(true|false)$/.test(value) ? value === 'true' : value]
      throw wrongUsage({
        what: `--query ${pair} cannot be read`,
        why: 'it has no key and value',
        next: 'Write --query state=failed.',
      })
    }),
  )
}

const pause = 500

function watch(session: Session, { id, action, total }: BatchBody): Promise<BatchBody> {
  const stopped = {
    what: `stopped waiting for the batch ${id}`,
    why: 'interrupted; the broker goes on with it',
    next: `purser batches show ${id} shows how it stands, and purser batches stop ${id} ends it.`,
  }
  return interruptible(session.io, stopped, async signal => {
    const progress = showCount(session.io, action, total)
    try {
      for (;;) {
        const response = await session.admin.batch(id)
        if (response.status !== 200) throw refusal(`could not read the batch ${id}`, response)
        const { finished_at, left = total } = response.body
        progress.update(total - left)
        if (finished_at !== undefined) return response.body
        await sleep(session.io.clock, pause, signal)
        signal.throwIfAborted()
      }
    } finally {
      progress.stop()
    }
  })
}
