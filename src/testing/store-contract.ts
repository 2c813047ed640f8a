/**
 * What every store must do, as data: a test runner of any kind opens a subject for each case and runs it.
 *
 *     for (const { name, run } of storeContract) it(name, async () => { … await run(subject) … })
 *
 * One suite for each contract, and `storeContract` with all of them. Each runs on a whole store, since rows come into it by
 * the ledger. A case that needs durability is to be skipped, with the subject's reason, where the subject has none.
 */
import { acceptCases } from './store-contract/accept.ts'
import { actCases } from './store-contract/acts.ts'
import { bulletinCases } from './store-contract/bulletins.ts'
import { chainCases } from './store-contract/chain.ts'
import { changeCases } from './store-contract/changes.ts'
import { choreCases } from './store-contract/chores.ts'
import { claimCases } from './store-contract/claim.ts'
import { cleanUpCases } from './store-contract/clean-up.ts'
import { concurrencyCases } from './store-contract/concurrency.ts'
import { durabilityCases } from './store-contract/durability.ts'
import { emptiedCases } from './store-contract/emptied.ts'
import { expiryCases } from './store-contract/expiry.ts'
import { failureCases } from './store-contract/failures.ts'
import { fenceCases } from './store-contract/fences.ts'
import { finishCases } from './store-contract/finish.ts'
import { handBackCases } from './store-contract/hand-back.ts'
import { instanceVerbCases } from './store-contract/instance-verbs.ts'
import { leftOutCases } from './store-contract/left-out.ts'
import { listCursorCases } from './store-contract/list-cursors.ts'
import { listCases } from './store-contract/lists.ts'
import { marketplaceCases } from './store-contract/marketplace.ts'
import { namedOperationCases } from './store-contract/named-operations.ts'
import { nameCases } from './store-contract/names.ts'
import { noteCases } from './store-contract/notes.ts'
import { observationCases } from './store-contract/observation.ts'
import { operationVerbCases } from './store-contract/operation-verbs.ts'
import { pinCases } from './store-contract/pins.ts'
import { progressCases } from './store-contract/progress.ts'
import { purgeCases } from './store-contract/purge.ts'
import { quotaCases } from './store-contract/quotas.ts'
import { readCases } from './store-contract/reads.ts'
import { sharedCases } from './store-contract/shared.ts'
import { shortPageCases } from './store-contract/short-pages.ts'
import type { StoreCase } from './store-contract/subject.ts'
import { surveyCases } from './store-contract/survey.ts'
import { takeCases } from './store-contract/take.ts'
import { valueCases } from './store-contract/values.ts'
import { verbCases } from './store-contract/verbs.ts'
import { wakeUpCases } from './store-contract/wake-ups.ts'
import { wholeCases } from './store-contract/whole.ts'

export type { StoreCase, StoreSubject } from './store-contract/subject.ts'

/** The cases of `src/ledger.ts`. */
export const ledgerContract: readonly StoreCase[] = [
  ...acceptCases,
  ...changeCases,
  ...claimCases,
  ...takeCases,
  ...leftOutCases,
  ...quotaCases,
  ...progressCases,
  ...finishCases,
  ...emptiedCases,
  ...handBackCases,
  ...fenceCases,
  ...sharedCases,
  ...nameCases,
  ...valueCases,
  ...verbCases,
  ...operationVerbCases,
  ...instanceVerbCases,
  ...concurrencyCases,
  ...durabilityCases,
]

/** The cases of `src/upkeep.ts`. */
export const upkeepContract: readonly StoreCase[] = [
  ...choreCases,
  ...bulletinCases,
  ...cleanUpCases,
  ...purgeCases,
  ...observationCases,
  ...expiryCases,
]

/** The cases of `src/marketplace.ts`. */
export const marketplaceContract: readonly StoreCase[] = [...marketplaceCases, ...pinCases]

/** The cases of `src/notes.ts`. */
export const notesContract: readonly StoreCase[] = noteCases

/** The cases of `src/reads.ts`. */
export const readsContract: readonly StoreCase[] = [
  ...readCases,
  ...surveyCases,
  ...failureCases,
  ...listCases,
  ...listCursorCases,
  ...shortPageCases,
  ...namedOperationCases,
  ...actCases,
]

/** The cases of `src/chain.ts`. A store that keeps no chain passes them. */
export const chainContract: readonly StoreCase[] = chainCases

/** All of them, and what a store has besides: wake-ups, a name, an end. */
export const storeContract: readonly StoreCase[] = [
  ...ledgerContract,
  ...upkeepContract,
  ...marketplaceContract,
  ...notesContract,
  ...readsContract,
  ...chainContract,
  ...wakeUpCases,
  ...wholeCases,
]
