import type { Child } from './child.ts'
import { inNewFolder } from './new-folder.ts'
import { onLoadCore } from './pin.ts'
import { atOnce, type Costs, costNames, makePolled, pollCost, provisionCosts, warmUp } from './request-cost.ts'
import { median, type Round } from './result.ts'

export interface Variants<Which extends string> {
  readonly names: readonly Which[]
  /** What all of them are compared with. */
  readonly baseline: Which
  /** On a ledger that no other start has. */
  start(which: Which, folder: string, number: number): Promise<Child>
}

export type VariantRounds<Which extends string> = Readonly<Record<keyof Costs, Readonly<Record<Which, Round[]>>>>

/** Two processes of the same program may differ by a tenth as long as they live, so there are several of each. */
const starts = 8
/** Polls are short: they are asked for in many turns, so that what is slow for a moment is slow for all. */
const pollTurns = 6

/**
 * Processor time of one poll and of one provision, until it is answered and to its end, of brokers that differ in one thing, in turns on
 * the same machine: the medians of each start.
 */
export async function compareVariants<Which extends string>(
  variants: Variants<Which>,
  rounds: number,
): Promise<VariantRounds<Which>> {
  const none = () => Object.fromEntries(variants.names.map(which => [which, []])) as unknown as Record<Which, Round[]>
  const measured = { poll: none(), accepted: none(), provision: none() }
  for (let number = 0; number < starts; number++)
    await inNewFolder(folder => onLoadCore(() => measureStart(variants, { folder, number, rounds, measured })))
  return measured
}

async function measureStart<Which extends string>(
  { names, baseline, start }: Variants<Which>,
  { folder, number, rounds, measured }: Measuring<Which>,
): Promise<void> {
  const children: [Which, Child][] = []
  let made = 1
  try {
    for (const which of names) children.push([which, await start(which, folder, number)])
    for (const [, child] of children) await makePolled(child)
    for (const [, child] of children) {
      await provisionCosts(child, warmUp.provisions, made)
      await pollCost(child, warmUp.polls)
    }
    made += warmUp.provisions
    const costs = new Map(names.map(which => [which, { poll: [], accepted: [], provision: [] } as Samples]))
    const inTurn = (turn: number) => (turn % 2 === 0 ? children : children.toReversed())
    for (let round = 0; round < Math.ceil(rounds / 2); round++) {
      for (const [which, child] of inTurn(round)) {
        const { accepted, provision } = await provisionCosts(child, atOnce.provisions, made)
        costs.get(which)?.accepted.push(accepted)
        costs.get(which)?.provision.push(provision)
      }
      made += atOnce.provisions
      for (let turn = 0; turn < pollTurns; turn++)
        for (const [which, child] of inTurn(turn)) costs.get(which)?.poll.push(await pollCost(child, atOnce.polls))
    }
    for (const [which, ours] of costs)
      for (const [kind] of costNames)
        measured[kind][which].push({ ours: median(ours[kind]), baseline: median(costs.get(baseline)?.[kind] ?? []) })
  } finally {
    await Promise.all(children.map(([, child]) => child.stop()))
  }
}

type Samples = Record<keyof Costs, number[]>

interface Measuring<Which extends string> {
  readonly folder: string
  readonly number: number
  readonly rounds: number
  readonly measured: VariantRounds<Which>
}
