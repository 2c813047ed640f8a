import type { Child } from './child.ts'
import { inNewFolder } from './new-folder.ts'
import { onLoadCore } from './pin.ts'
import { atOnce, type Costs, costNames, costsOf, makePolled, warmUp } from './request-cost.ts'
import type { Round } from './result.ts'

export interface Variants<Which extends string> {
  readonly names: readonly Which[]
  /** What all of them are compared with. */
  readonly baseline: Which
  /** On a ledger that no other start has. */
  start(which: Which, folder: string, number: number): Promise<Child>
}

export type VariantRounds<Which extends string> = Readonly<Record<keyof Costs, Readonly<Record<Which, Round[]>>>>

/** Two processes of the same program may differ by a tenth as long as they live, so there are several of each. */
const starts = 4

/** Processor time of one poll and of one provision, until it is answered and to its end, of brokers that differ in one thing, in turns on the same machine. */
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
    // One more: the first round warms everything up.
    for (let round = 0; round <= Math.ceil(rounds / 2); round++) {
      const requests = round === 0 ? warmUp : atOnce
      const costs = new Map<Which, Costs>()
      for (const [which, child] of round % 2 === 0 ? children : children.toReversed())
        costs.set(which, await costsOf(child, { ...requests, first: made }))
      made += requests.provisions
      if (round === 0) continue
      for (const [which, ours] of costs)
        for (const [kind] of costNames)
          measured[kind][which].push({ ours: ours[kind], baseline: costs.get(baseline)?.[kind] ?? Number.NaN })
    }
  } finally {
    await Promise.all(children.map(([, child]) => child.stop()))
  }
}

interface Measuring<Which extends string> {
  readonly folder: string
  readonly number: number
  readonly rounds: number
  readonly measured: VariantRounds<Which>
}
