import type { WireOffering, WirePlan } from '../../client/index.ts'
import { toLine } from './printable.ts'
import { renderTable } from './table.ts'

/** One line a plan; a service's name and description stand on a line of their own above its plans. */
export function renderCatalog(offerings: readonly WireOffering[]): string {
  if (offerings.length === 0) return 'The catalog is empty.\n'
  const rows = offerings.flatMap(offering => [
    [toLine(offering.name), '', '', toLine(offering.description)],
    ...offering.plans.map(plan => [
      `  ${toLine(plan.name)}`,
      plan.free === false ? 'paid' : 'free',
      describeUse(offering, plan),
      toLine(plan.description),
    ]),
  ])
  return renderTable([['SERVICE / PLAN', 'COST', 'CAN', 'DESCRIPTION'], ...rows])
}

function describeUse(offering: WireOffering, plan: WirePlan): string {
  const uses = [
    ...((plan.bindable ?? offering.bindable) ? ['bind'] : []),
    ...((plan.plan_updateable ?? offering.plan_updateable) ? ['change plan'] : []),
  ]
  return uses.length === 0 ? '-' : uses.join(', ')
}
