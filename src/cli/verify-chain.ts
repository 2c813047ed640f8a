import type { ChainBody, EntryBody } from '../client/index.ts'
import { type ChainFault, findFault, type Link } from '../domain/chain.ts'
import { count } from '../shape/count.ts'

/** Where the chain is read from. */
export interface ChainSource {
  status(): Promise<ChainBody>
  /** The lines after a number, the first of them first; none after the last. */
  lines(after: number): Promise<readonly EntryBody[]>
}

export interface Verified {
  /** How many lines are as they were: all, where there is no fault. */
  readonly lines: number
  readonly status: ChainBody
  readonly fault?: ChainFault
}

/** How often it is begun again because old lines were removed meanwhile. */
const mostRounds = 5

/** Walks through the whole chain. `known` is a head that was noted earlier. */
export async function verifyChain(source: ChainSource, known?: Link): Promise<Verified> {
  for (let round = 1; ; round += 1) {
    const begun = await source.status()
    const walked = await walk(source, begun, known)
    const status = await source.status()
    const isShorter = status.anchor.no !== begun.anchor.no
    if (isShorter && round < mostRounds) continue
    const { lines, last } = walked
    const fault = judgeStart(begun, known) ?? walked.fault ?? judgeEnd(begun, status, last, known)
    return { lines, status, fault }
  }
}

interface Walked {
  readonly lines: number
  readonly last: Link
  readonly fault?: ChainFault
}

async function walk({ lines }: ChainSource, { anchor, head }: ChainBody, known: Link | undefined): Promise<Walked> {
  const noted = [head, ...(known === undefined ? [] : [known])]
  let last: Link = anchor
  for (;;) {
    // The last line comes again: a second one with its number would be missed otherwise.
    const found = await lines(last.no === anchor.no ? last.no : last.no - 1)
    const [first] = found
    const page = first?.no === last.no && first.hash === last.hash ? found.slice(1) : found
    if (page.length === 0) return { lines: last.no - anchor.no, last }
    for (const line of page) {
      const fault = findFault(last, line) ?? judgeNoted(line, noted)
      if (fault !== undefined) return { lines: last.no - anchor.no, last, fault }
      last = line
    }
  }
}

function judgeNoted({ no, hash }: Link, noted: readonly Link[]): ChainFault | undefined {
  const other = noted.find(link => link.no === no && link.hash !== hash)
  const message = `line ${no} has another hash than the head of the chain had: the chain was written anew`
  return other && { no, kind: 'unlike-head', message }
}

/** What was noted may be older than what is kept. */
function judgeStart({ anchor }: ChainBody, known: Link | undefined): ChainFault | undefined {
  if (known === undefined || known.no > anchor.no) return undefined
  if (known.no === anchor.no) return judgeNoted(anchor, [known])
  const message = `lines up to ${anchor.no} were removed because of their age, so nothing tells whether line ${known.no} was as it should be: note the head more often`
  return { no: known.no, kind: 'unlike-head', message }
}

function judgeEnd(begun: ChainBody, status: ChainBody, last: Link, known: Link | undefined): ChainFault | undefined {
  const end = Math.max(begun.head.no, known?.no ?? 0)
  if (last.no < end)
    return { no: last.no + 1, kind: 'missing', message: `the chain ends with line ${last.no}, and had ${end} lines` }
  const strays = count(status.strays, 'line')
  if (status.strays > 0)
    return {
      no: status.head.no,
      kind: 'added',
      message: `${strays} stand outside of the chain: somebody has put them in`,
    }
  const message = judgeProof(status)
  return message === undefined ? undefined : { no: status.head.no, kind: 'unproven', message }
}

function judgeProof({ proof, key, keyed, head }: ChainBody): string | undefined {
  if (proof === 'wrong')
    return `its end was not written by a broker with the key "${key}": the chain may have been written anew`
  if (proof === 'missing-key')
    return `its end is proven by the key "${key}", which is not configured: add it to encryption.keys, and verify again`
  if (proof === 'none' && keyed && head.no > 0)
    return 'its end is not proven by a key, though there is one: if it was added lately, "purser keys rotate" mends that; else the chain may have been written anew'
  return undefined
}
