import type { AuthorAction } from '../../bundle/actions.ts'
import { createParameterSchema, demandedOf } from '../../catalog/parameters.ts'
import type { JsonObject } from '../../protocol/json.ts'
import { isBindable, type Offering, type Plan } from '../../protocol/offering.ts'
import type { DevTask } from '../../running/bundles/dev/perform.ts'
import { wrongUsage } from '../cli-error.ts'
import type { Input } from '../parameters.ts'
import type { KnownInstance, RunFile } from './run-file.ts'

/** What one run does, and what is known of the instance before it. */
export interface RunTask {
  readonly driven: Pick<DevTask, 'action' | 'instance' | 'plan' | 'state' | 'binding' | 'previous'>
  readonly before: KnownInstance
}

export interface Wanted extends Input {
  readonly action: AuthorAction
  readonly instance: string
  readonly binding: string
  readonly plan?: string
}

const platform = 'purser-cli'

/** Checks what was asked for as a broker would: the plan, the parameters, and that instance and binding exist. */
export async function chooseTask(offering: Offering, file: RunFile, wanted: Wanted): Promise<RunTask> {
  const { action } = wanted
  const known = file.instance(wanted.instance)
  if (known === undefined && action !== 'provision' && action !== 'test')
    throw wrongUsage({
      what: `instance ${wanted.instance} is not known`,
      why: 'it was not provisioned with this state file',
      next: 'Run purser bundle run provision first, or name another with --instance.',
    })
  if (wanted.plan !== undefined && !choosesPlan(action, known))
    throw wrongUsage({
      what: `--plan cannot be used with ${action === 'test' ? `the test of instance ${wanted.instance}` : action}`,
      why: action === 'test' ? 'it was provisioned, and has its plan' : 'only a provision and an update choose a plan',
      next:
        action === 'test' ? 'Leave it off, or name an instance that is not there with --instance.' : 'Leave it off.',
    })
  const plan = findPlan(offering, wanted.plan ?? known?.plan)
  if (action === 'bind' && !isBindable(offering, plan))
    throw wrongUsage({
      what: `plan ${plan.name} cannot be bound`,
      why: 'its "bindable" is not true',
      next: 'Choose another plan, or set it in bundle.yml.',
    })
  const parameters = await instanceParameters(plan, known, wanted)
  const context = wanted.context ?? known?.context ?? { platform }
  const before = known ?? { plan: plan.name, parameters, context, state: {}, bindings: {} }
  const binding = await chooseBinding(plan, before, wanted)
  return {
    driven: {
      action,
      plan: { id: plan.id, name: plan.name },
      instance: { id: wanted.instance, serviceId: offering.id, planId: plan.id, platform, context, parameters },
      state: before.state,
      binding,
      previous:
        action === 'update' ? { planId: findPlan(offering, before.plan).id, parameters: before.parameters } : undefined,
    },
    before,
  }
}

function choosesPlan(action: AuthorAction, known: KnownInstance | undefined): boolean {
  return action === 'provision' || action === 'update' || (action === 'test' && known === undefined)
}

function findPlan({ plans }: Offering, name: string | undefined): Plan {
  const plan = name === undefined ? plans[0] : plans.find(candidate => candidate.name === name)
  if (plan !== undefined) return plan
  throw wrongUsage({
    what: `the bundle has no plan "${name}"`,
    why: `its plans are ${plans.map(candidate => candidate.name).join(', ')}`,
    next: 'Name one of them with --plan.',
  })
}

/** An update changes the parameters that it names and keeps the others. */
async function instanceParameters(plan: Plan, known: KnownInstance | undefined, wanted: Wanted): Promise<JsonObject> {
  const { create, update } = plan.schemas?.serviceInstance ?? {}
  if (wanted.action === 'provision') return check(create?.parameters, wanted)
  if (wanted.action === 'test') return testParameters(create?.parameters, known, wanted)
  if (wanted.action !== 'update') return known?.parameters ?? {}
  return { ...known?.parameters, ...(await check(update?.parameters, wanted, known?.parameters)) }
}

/** A test may have values of its own for what users must give: nothing is required of it. */
async function testParameters(
  schema: JsonObject = {},
  known: KnownInstance | undefined,
  wanted: Wanted,
): Promise<JsonObject> {
  const { required: _, ...rest } = schema
  return { ...(await check(rest, wanted)), ...known?.parameters, ...(await wanted.typedBy(schema)) }
}

async function chooseBinding(plan: Plan, { bindings }: KnownInstance, wanted: Wanted): Promise<DevTask['binding']> {
  const { action, binding: id } = wanted
  if (action === 'bind') {
    const parameters = await check(plan.schemas?.serviceBinding?.create?.parameters, wanted)
    return { id, parameters, state: bindings[id]?.state ?? {} }
  }
  if (wanted.parameters !== undefined && (action === 'unbind' || action === 'deprovision'))
    throw wrongUsage({
      what: `${action} takes no parameters`,
      why: 'the OSB API has none for it',
      next: 'Leave --param and --params off.',
    })
  if (action !== 'unbind') return undefined
  const known = bindings[id]
  if (known !== undefined) return { id, ...known }
  throw wrongUsage({
    what: `binding ${id} is not known`,
    why: 'it was not bound with this state file',
    next: 'Run purser bundle run bind first, or name another with --binding.',
  })
}

/** What the schema requires may also be among the values before. */
async function check(schema: JsonObject | undefined, wanted: Input, before: JsonObject = {}): Promise<JsonObject> {
  const input = { ...demandedOf(schema, before), ...(await wanted.typedBy(schema)) }
  if (schema === undefined) return input
  const checked = await createParameterSchema(schema).check(input)
  if (checked.ok) return checked.value
  throw wrongUsage({
    what: 'the parameters are not valid',
    why: checked.problems.join('; '),
    next: 'Correct them: the plan in bundle.yml says what is allowed.',
  })
}
