import type { WireOffering } from '../../client/index.ts'
import { parseDuration } from '../../shape/duration.ts'
import type { CliIo } from '../io.ts'
import { readProfiles } from '../profiles.ts'
import { openSession, type Session } from '../session.ts'

export type LiveKind =
  | 'instance'
  | 'binding'
  | 'operation'
  | 'batch'
  | 'session'
  | 'service'
  | 'plan'
  | 'service-id'
  | 'plan-id'
  | 'what'
  | 'chore'
  | 'profile'

interface Asked {
  readonly positionals: readonly string[]
  readonly options: Readonly<Record<string, string>>
  readonly io: CliIo
}

/** Whoever presses Tab does not wait for longer, unless PURSER_COMPLETION_TIMEOUT says so: a broker may be far away. */
const patience = '300ms'
const limit = '200'

/** The newest ids of a kind; none where the broker does not answer at once, or refuses. */
export async function findLive(kind: LiveKind, asked: Asked): Promise<readonly string[]> {
  const { io, options } = asked
  try {
    const timeout = AbortSignal.timeout(parseDuration(io.env.PURSER_COMPLETION_TIMEOUT || patience))
    if (kind === 'profile') return Object.keys((await readProfiles(io)).profiles)
    const { url, profile, user, token } = options
    const late = new Promise<never>((_, reject) => timeout.addEventListener('abort', reject))
    late.catch(() => {})
    const session = await Promise.race([
      openSession(io, { url, profile, user, token, apiVersion: '2.17', output: 'none' }),
      late,
    ])
    return await Promise.race([lists[kind](session, asked, timeout), late])
  } catch {
    return []
  }
}

type List = (session: Session, asked: Asked, signal: AbortSignal) => Promise<readonly string[]>

const instances: List = async ({ admin }, _asked, signal) => idsOf(await admin.instances({ limit }, { signal }))
const operations: List = async ({ admin }, _asked, signal) => idsOf(await admin.operations({ limit }, { signal }))

const lists: Readonly<Record<Exclude<LiveKind, 'profile'>, List>> = {
  instance: instances,
  operation: operations,
  binding: async ({ admin }, { positionals }, signal) =>
    idsOf(await admin.bindings({ instance_id: positionals[0], limit }, { signal })),
  batch: async ({ admin }, _asked, signal) => idsOf(await admin.batches({ limit }, { signal })),
  session: async ({ admin }, _asked, signal) => idsOf(await admin.sessions({ limit }, { signal })),
  service: async (session, _asked, signal) => (await readOfferings(session, signal)).map(({ name }) => name),
  'service-id': async (session, _asked, signal) => (await readOfferings(session, signal)).map(({ id }) => id),
  plan: async (session, asked, signal) => (await plansOf(session, asked, signal)).map(({ name }) => name),
  'plan-id': async (session, asked, signal) => (await plansOf(session, asked, signal)).map(({ id }) => id),
  chore: async ({ admin }, _asked, signal) =>
    ((await admin.chores({ signal })).body.chores ?? []).map(({ name }) => name),
  what: async (...question) => {
    const [some, others] = await Promise.all([instances(...question), operations(...question)])
    return [...some.map(id => `instances/${id}`), ...others.map(id => `operations/${id}`)]
  },
}

function idsOf({
  body,
}: {
  readonly body: { readonly items?: readonly { readonly id: string }[] }
}): readonly string[] {
  return (body.items ?? []).map(({ id }) => id)
}

/** What platforms see; operators without that right have the same under /admin, which names ids only. */
async function readOfferings({ client }: Session, signal: AbortSignal): Promise<readonly WireOffering[]> {
  return (await client.catalog({ signal })).body.services ?? []
}

/** Those of the service that is typed already, or all. */
async function plansOf(session: Session, { positionals, options }: Asked, signal: AbortSignal) {
  const service = options.service ?? positionals[0]
  const offerings = await readOfferings(session, signal)
  const chosen = offerings.filter(({ id, name }) => service === id || service === name)
  return (chosen.length > 0 ? chosen : offerings).flatMap(({ plans }) => plans)
}
