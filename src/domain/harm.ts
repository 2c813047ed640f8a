import { isDeepStrictEqual } from 'node:util'
import { isBindable, isPlanUpdateable, type Offering, type Plan } from '../protocol/offering.ts'
import { narrowingsOf } from './narrowed-schema.ts'

/** A service as it is offered, or would be. */
export interface Published {
  readonly offering: Offering
  /** Plan names by plan name: where an update may lead. Absent where nothing but `planUpdateable` says so. */
  readonly updatesTo?: ReadonlyMap<string, readonly string[]>
}

/** What a new revision would do to instances that live: for people, and a reason not to publish it. */
export interface Harm {
  readonly kind: 'plan-removed' | 'plan-renamed' | 'not-bindable' | 'not-updateable' | 'update-lost' | 'schema-narrowed'
  readonly planId: string
  readonly plan: string
  readonly instances: number
  readonly problem: string
}

/**
 * What publishing `after` in the place of `before` would take away from live instances, counted by plan id. A plan that
 * nobody uses can change as it likes. Instances stay pinned to their revision; the harm is what their users could do and
 * cannot do any more: upgrade, change the plan, bind, update with the parameters they have.
 */
export function harmOf(before: Published, after: Published, instances: ReadonlyMap<string, number>): Harm[] {
  return before.offering.plans.flatMap(plan => {
    const count = instances.get(plan.id) ?? 0
    if (count === 0) return []
    const next = after.offering.plans.find(({ id }) => id === plan.id)
    const found = next === undefined ? [removal(plan, before, after)] : lossesOf(before, after, plan, next)
    return found.map(harm => ({ ...harm, planId: plan.id, plan: plan.name, instances: count }))
  })
}

type Loss = Pick<Harm, 'kind' | 'problem'>

/** A plan's id is made of its name: a renamed plan is a removed one, and one that is new and otherwise the same. */
function removal(plan: Plan, before: Published, after: Published): Loss {
  const old = new Set(before.offering.plans.map(({ id }) => id))
  const heir = after.offering.plans.find(
    other => !old.has(other.id) && isDeepStrictEqual(substanceOf(plan), substanceOf(other)),
  )
  if (heir === undefined)
    return { kind: 'plan-removed', problem: 'The plan is gone: keep it until its instances are deprovisioned.' }
  return {
    kind: 'plan-renamed',
    problem: `The plan is called ${JSON.stringify(heir.name)} now, which makes it another plan: keep the name, and change metadata.displayName.`,
  }
}

/** What makes a plan what it is, whatever it is called. */
function substanceOf({ free, bindable, schemas, description }: Plan): unknown {
  return { free, bindable, schemas, description }
}

function lossesOf(before: Published, after: Published, plan: Plan, next: Plan): Loss[] {
  const losses: Loss[] = []
  const lose = (kind: Harm['kind'], problem: string) => losses.push({ kind, problem })
  if (plan.name !== next.name)
    lose('plan-renamed', `The plan is called ${JSON.stringify(next.name)} now: keep the name.`)
  if (isBindable(before.offering, plan) && !isBindable(after.offering, next))
    lose('not-bindable', 'The plan is not bindable any more.')
  if (isPlanUpdateable(before.offering, plan) && !isPlanUpdateable(after.offering, next))
    lose('not-updateable', 'The plan cannot be changed for another any more.')
  const targets = after.updatesTo?.get(next.name) ?? []
  for (const target of after.updatesTo === undefined ? [] : (before.updatesTo?.get(plan.name) ?? []))
    if (!targets.includes(target))
      lose('update-lost', `An update to the plan ${JSON.stringify(target)} is not possible any more.`)
  return [...losses, ...narrowedSchemas(plan, next)]
}

function narrowedSchemas(plan: Plan, next: Plan): Loss[] {
  const pairs = [
    ['provision', plan.schemas?.serviceInstance?.create, next.schemas?.serviceInstance?.create],
    ['update', plan.schemas?.serviceInstance?.update, next.schemas?.serviceInstance?.update],
    ['bind', plan.schemas?.serviceBinding?.create, next.schemas?.serviceBinding?.create],
  ] as const
  return pairs.flatMap(([action, old, now]) =>
    narrowingsOf(old?.parameters, now?.parameters).map(
      ({ path, problem }): Loss => ({
        kind: 'schema-narrowed',
        problem: `The parameters of ${action} take less: ${path} ${problem}.`,
      }),
    ),
  )
}
