import type { Offering } from '../protocol/offering.ts'
import type { Mistake } from '../shape/mistake.ts'
import type { Service } from './define-service.ts'

type Found = Pick<Mistake, 'problem' | 'remedy'>

/** What a service offers and its code cannot do. The offering may stand in a file. */
export function checkService(offering: Partial<Offering>, service: Service | undefined): Found[] {
  if (service === undefined)
    return [{ problem: 'its plans have no driver', remedy: 'define a service with this id in the broker module' }]
  const plans = (Array.isArray(offering.plans) ? offering.plans : []).filter(plan => typeof plan === 'object' && plan)
  const bindable = plans.some(plan => (plan.bindable ?? offering.bindable) === true)
  const updateable = plans.some(plan => (plan.planUpdateable ?? offering.planUpdateable) === true)
  const { bind, unbind, update, actions } = service
  const rules: readonly (false | Found)[] = [
    bindable &&
      bind === undefined &&
      unbind === undefined && {
        problem: 'it is bindable but has no bind and unbind',
        remedy: 'define both, or say bindable: false',
      },
    updateable &&
      update === undefined && {
        problem: 'its plans can be changed (planUpdateable) but it has no update',
        remedy: 'define update, or say planUpdateable: false',
      },
    actions?.bind?.async === 'always' &&
      offering.bindingsRetrievable !== true && {
        problem: 'its bindings are asynchronous but cannot be fetched',
        remedy: 'say bindingsRetrievable: true',
      },
  ]
  return rules.filter(found => found !== false)
}
