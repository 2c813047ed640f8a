import type {
  BindContext,
  DeprovisionContext,
  ProvisionContext,
  UnbindContext,
  UpdateContext,
} from '../../author/context.ts'
import type { BindResult, ProvisionResult, UnbindResult } from '../../author/results.ts'
import { TerminalError } from '../../engine/errors.ts'
import type { Wait } from '../../engine/work.ts'
import type { JsonObject } from '../../protocol/json.ts'
import type { SandboxInputs, SandboxOutputs } from '../../sandbox.ts'
import type { BundleTask } from './attempt.ts'
import { type ActionFacts, type BindingFacts, secretsOf, toExtraVars, toInput } from './facts.ts'
import type { Bundle } from './parts.ts'
import { runBundle } from './run-bundle.ts'
import { changeValues, readState, toStored } from './state.ts'

type Done<Result> = Promise<Result | Wait>

export function provision(bundle: Bundle, ctx: ProvisionContext<JsonObject>): Done<ProvisionResult<JsonObject>> {
  return runForInstance(bundle, ctx, { action: 'provision' }, toResult)
}

export function update(bundle: Bundle, ctx: UpdateContext<JsonObject, JsonObject>): Done<ProvisionResult<JsonObject>> {
  return runForInstance(bundle, ctx, { action: 'update', previous: ctx.previous }, toResult)
}

/** The state goes with the instance, and only with it: what a deprovision that failed wants to keep has no use. */
export function deprovision(bundle: Bundle, ctx: DeprovisionContext<JsonObject, JsonObject>): Done<undefined> {
  return runForInstance(bundle, ctx, { action: 'deprovision' }, () => undefined)
}

export function bind(
  bundle: Bundle,
  ctx: BindContext<JsonObject, JsonObject>,
): Done<BindResult<JsonObject, JsonObject>> {
  return runForBinding(bundle, ctx, { action: 'bind', parameters: ctx.parameters }, toBound)
}

export function unbind(bundle: Bundle, ctx: UnbindContext<JsonObject, JsonObject>): Done<UnbindResult> {
  return runForBinding(bundle, ctx, { action: 'unbind' }, instanceChanges)
}

async function runForInstance<Result>(
  bundle: Bundle,
  ctx: ProvisionContext<JsonObject> | DeprovisionContext<JsonObject, JsonObject>,
  more: Pick<ActionFacts, 'action' | 'previous'>,
  conclude: (facts: ActionFacts, outputs: SandboxOutputs) => Result,
): Done<Result> {
  const { parts, revision } = bundle
  const secrets = await parts.secretsFor(revision.fullName)
  const facts = { ctx, revision, state: readState(ctx.state), parameters: ctx.parameters, secrets, ...more }
  return runBundle(bundle, {
    ...taskOf(bundle, facts),
    saved: () => readState(ctx.state).sandbox,
    conclude: outputs => conclude(facts, outputs),
  })
}

type FactsOfBinding = ActionFacts & { readonly binding: BindingFacts }

async function runForBinding<Result>(
  bundle: Bundle,
  ctx: BindContext<JsonObject, JsonObject> | UnbindContext<JsonObject, JsonObject>,
  { action, parameters }: Pick<ActionFacts, 'action'> & Pick<BindingFacts, 'parameters'>,
  conclude: (facts: FactsOfBinding, outputs: SandboxOutputs) => Result,
): Done<Result> {
  const { parts, revision } = bundle
  const secrets = await parts.secretsFor(revision.fullName)
  const binding = { info: ctx.binding, state: readState(ctx.bindingState), parameters }
  const state = readState(ctx.state)
  const facts = { ctx, action, revision, state, parameters: ctx.instance.parameters, binding, secrets }
  return runBundle(bundle, {
    ...taskOf(bundle, facts),
    bindingId: ctx.binding.id,
    beside: state.sandbox,
    saved: () => readState(ctx.bindingState).sandbox,
    conclude: outputs => conclude(facts, outputs),
  })
}

function taskOf({ parts, sensitive }: Bundle, facts: ActionFacts): Omit<BundleTask<unknown>, 'saved' | 'conclude'> {
  const { ctx, action, state, binding } = facts
  const secrets = secretsOf(facts, sensitive)
  const inputs = (): SandboxInputs => ({
    action,
    input: toInput(facts),
    extraVars: toExtraVars(facts),
    open: secrets.length === 0 && Object.keys(state.values).length === 0,
    state: state.values,
    bindingState: binding?.state.values,
    helpers: parts.helpers,
    env: parts.env,
  })
  return { ctx, action, secrets, inputs }
}

/** An update that gives new credentials replaces those of the provision. */
function toResult({ state }: ActionFacts, outputs: SandboxOutputs): ProvisionResult<JsonObject> {
  const { dashboardUrl, credentials = state.credentials } = outputs
  return { state: toStored(changeValues(state.values, outputs.state), credentials), dashboardUrl }
}

function toBound(facts: FactsOfBinding, outputs: SandboxOutputs): BindResult<JsonObject, JsonObject> {
  const credentials = outputs.credentials ?? facts.state.credentials
  if (credentials === undefined)
    throw new TerminalError('The bundle gave no credentials: neither its bind nor its provision wrote any.')
  const values = changeValues(facts.binding.state.values, outputs.bindingState)
  return { credentials, state: toStored(values, outputs.credentials), ...instanceChanges(facts, outputs) }
}

/** Binds of one instance may run side by side: what they change is merged when they end. */
function instanceChanges({ state }: ActionFacts, outputs: SandboxOutputs): UnbindResult {
  if (outputs.state === undefined) return {}
  changeValues(state.values, outputs.state)
  return { instanceState: { state: outputs.state } }
}
