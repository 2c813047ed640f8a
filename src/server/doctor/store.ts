import { hostname } from 'node:os'
import { sayDuration } from '../../shape/duration.ts'
import { messageOf } from '../../shape/thrown.ts'
import type { StoreExam } from '../../store/exam.ts'
import { findAdapter } from '../../store/schemes.ts'
import { maskStoreUrl } from '../config.ts'
import type { Check, Finding } from './finding.ts'

/** Each request waits for some of these. */
const slow = 100
/** What is told from times of two machines, such as logs, is out of order by this. */
const skewed = 1_000
/** Certificates and tokens are judged by this machine's clock. */
const wrongClock = 60_000
/** A replica says three times in this time that it lives. */
const silence = 10_000

/** The store answers, is of this release or can be brought to it, and its clock agrees with ours. */
export const checkStore: Check = async ({ config }) => {
  const { ledger, engine } = config
  const store = config.store.reveal()
  const name = maskStoreUrl(store)
  const examine = findAdapter(store)?.examine
  if (examine === undefined)
    return [
      {
        state: 'warning',
        about: 'store',
        expected: 'a store that outlives the broker',
        found: `${name} forgets everything with its process`,
        remedy: 'Name another one for more than a try, such as sqlite:purser.db.',
      },
    ]
  let exam: StoreExam
  try {
    exam = await examine(store, { ...ledger, name: engine.name })
  } catch (error) {
    const remedy = 'Do what it says; purser migrate --config … tries the same store.'
    return [{ state: 'wrong', about: 'store', expected: `${name} answers`, found: messageOf(error), remedy }]
  }
  return [
    judgeReach(name, exam),
    ...judgeVersion(exam),
    ...(exam.refused ?? []).map(judgeRight),
    ...judgeClock(exam),
    ...judgeHolder(engine.name, exam),
  ]
}

function judgeReach(name: string, { latencyMs, heldBy }: StoreExam): Finding {
  const about = 'store'
  const expected = `${name} answers within ${slow} ms`
  const found = `it answered within ${Math.ceil(latencyMs)} ms${heldBy === undefined ? '' : `; ${heldBy} has it`}`
  if (latencyMs <= slow) return { state: 'ok', about, expected, found }
  return {
    state: 'warning',
    about,
    expected,
    found,
    remedy: 'Run the broker nearer to its store: each request waits for it.',
  }
}

function judgeVersion({ version, known }: StoreExam): readonly Finding[] {
  if (version === undefined) return []
  const about = 'store schema'
  const expected = `version ${known}`
  if (version === known) return [{ state: 'ok', about, expected, found: `version ${version}` }]
  if (version === 0)
    return [{ state: 'ok', about, expected, found: 'nothing is there yet: a broker makes it when it starts' }]
  const remedy = 'A broker brings it up to date when it starts; purser migrate does it before.'
  return [{ state: 'warning', about, expected, found: `version ${version}`, remedy }]
}

function judgeRight(refused: string): Finding {
  const [found = '', remedy = ''] = refused.split(': ', 2)
  return {
    state: 'wrong',
    about: 'store rights',
    expected: "this user may do a broker's work",
    found,
    remedy: `${remedy}.`,
  }
}

function judgeClock({ aheadMs, latencyMs }: StoreExam): readonly Finding[] {
  if (aheadMs === undefined) return []
  const about = 'clock'
  const expected = "this machine's clock agrees with the store's, to a second"
  // The answer may have spent all of the way on one side.
  const apart = Math.max(0, Math.abs(aheadMs) - latencyMs / 2)
  const found = `this machine is ${sayDuration(Math.round(Math.abs(aheadMs)))} ${aheadMs > 0 ? 'behind' : 'ahead'}`
  if (apart < skewed) return [{ state: 'ok', about, expected, found }]
  const remedy =
    'Let NTP set the clocks of both. The broker goes by the store, but logs, certificates and tokens do not.'
  return [{ state: apart < wrongClock ? 'warning' : 'wrong', about, expected, found, remedy }]
}

/** A broker that runs here under its name is as it should be. */
function judgeHolder(name: string | undefined, { holder }: StoreExam): readonly Finding[] {
  if (name === undefined || holder === undefined) return []
  const about = 'name'
  const expected = `no other process has the name ${name} (engine.name)`
  if (holder.seenAt === undefined || holder.agoMs > silence)
    return [{ state: 'ok', about, expected, found: 'nobody was seen under it lately' }]
  const found = `${holder.owner} has it, and was seen ${sayDuration(Math.max(0, Math.round(holder.agoMs)))} ago`
  if (holder.owner.startsWith(`${hostname()}/`))
    return [{ state: 'ok', about, expected, found: `${found}, on this host` }]
  const remedy = 'A second process under this name would not start: give each replica a name of its own, or none.'
  return [{ state: 'warning', about, expected, found, remedy }]
}
