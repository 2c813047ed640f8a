import { quoted } from '../shape/place.ts'
import { readParameters } from './read-parameters.ts'
import type { Reading } from './reading.ts'
import type { Item } from './source.ts'
import type { BundlePlan } from './spec.ts'

const known = ['name', 'description', 'free', 'bindable', 'metadata', 'parameters', 'bindParameters', 'updatesTo']

/** All plans of a spec, with unique names and a graph that leads only to plans that exist. */
export function readPlans(spec: Item, item: Item | undefined, reading: Reading): readonly BundlePlan[] {
  const entries = reading.list(item, '"plans"')
  if (item === undefined || (Array.isArray(item.value) && entries.length === 0)) {
    reading.error(item ?? spec, 'it has no plans; give it at least one under "plans", with name and description')
    return []
  }
  const plans = entries.flatMap(entry => {
    const plan = readPlan(entry, reading)
    return plan === undefined ? [] : [{ entry, ...plan }]
  })
  const names = new Set<string>()
  for (const { entry, plan } of plans) {
    if (names.has(plan.name))
      reading.error(entry, `there is a second plan ${quoted(plan.name)}; give each plan a name of its own`)
    names.add(plan.name)
  }
  // Where a plan is broken itself, its name may be the one that others lead to.
  if (plans.length === entries.length) for (const { targets } of plans) checkTargets(targets, names, reading)
  return plans.map(({ plan }) => plan)
}

interface Target {
  readonly name: string
  readonly item: Item
}

function readPlan(item: Item, reading: Reading): { plan: BundlePlan; targets: readonly Target[] } | undefined {
  const fields = reading.object(item, 'a plan', known)
  if (fields === undefined) return undefined
  if (!fields.has('name')) return reading.error(item, 'the plan has no name; give it one with "name"')
  const name = reading.text(fields.get('name'), 'the name of a plan')
  if (name === undefined) return undefined
  const targets = reading.list(fields.get('updatesTo'), '"updates_to"').flatMap(target => {
    const planName = reading.text(target, 'a name under "updates_to"')
    return planName === undefined ? [] : [{ name: planName, item: target }]
  })
  const bindable = reading.flag(fields.get('bindable'), '"bindable"')
  const plan = {
    name,
    description: readDescription(item, fields.get('description'), name, reading),
    // What the OSB API takes a plan for that does not say it.
    free: reading.flag(fields.get('free'), '"free"') ?? true,
    bindable,
    metadata: reading.json(fields.get('metadata'), '"metadata"') ?? {},
    parameters: readParameters(fields.get('parameters'), '"parameters"', reading),
    bindParameters: readParameters(fields.get('bindParameters'), '"bind_parameters"', reading),
    updatesTo: [...new Set(targets.map(target => target.name))].filter(target => target !== name),
  }
  return { plan, targets }
}

function readDescription(plan: Item, item: Item | undefined, name: string, reading: Reading): string {
  if (item === undefined || item.value === '') {
    reading.warn(
      item ?? plan,
      `the plan ${quoted(name)} has no description, and its name is shown instead; describe it`,
    )
    return name
  }
  return reading.text(item, 'the description of a plan') ?? name
}

function checkTargets(targets: readonly Target[], names: ReadonlySet<string>, reading: Reading): void {
  for (const { name, item } of targets)
    if (!names.has(name))
      reading.error(item, `"updates_to" leads to ${quoted(name)}, and no plan has that name; correct or remove it`)
}
