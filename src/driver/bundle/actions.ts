import type {
  ActionContext,
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
import { type ActionFacts, secretsOf, toExtraVars, toInput } from './facts.ts'
import type { Bundle } from './parts.ts'
import { runBundle } from './run-bundle.ts'
import { changeValues, readState, toStored } from './state.ts'

type Done<Result> = Promise<Result | Wait>

export async function provision(bundle: Bundle, ctx: ProvisionContext<JsonObject>): Done<ProvisionResult<JsonObject>> {
  const facts = await instanceFacts(bundle, ctx, { action: 'provision' })
  return run(bundle, ctx, facts, {
    saved: () => readState(ctx.state).sandbox,
    conclude: outputs => toResult(facts, outputs),
  })
}

export async function update(
  bundle: Bundle,
  ctx: UpdateContext<JsonObject, JsonObject>,
): Done<ProvisionResult<JsonObject>> {
  const facts = await instanceFacts(bundle, ctx, { action: 'update', previous: ctx.previous })
  return run(bundle, ctx, facts, {
    saved: () => readState(ctx.state).sandbox,
    conclude: outputs => toResult(facts, outputs),
  })
}

/** The state goes with the instance, and only with it: what a deprovision that failed wants to keep has no use. */
export async function deprovision(bundle: Bundle, ctx: DeprovisionContext<JsonObject, JsonObject>): Done<undefined> {
  const facts = await instanceFacts(bundle, ctx, { action: 'deprovision' })
  return run(bundle, ctx, facts, { saved: () => readState(ctx.state).sandbox, conclude: () => undefined })
}

export async function bind(
  bundle: Bundle,
  ctx: BindContext<JsonObject, JsonObject>,
): Done<BindResult<JsonObject, JsonObject>> {
  const facts = await bindingFacts(bundle, ctx, { action: 'bind', parameters: ctx.parameters })
  return run(bundle, ctx, facts, {
    saved: () => readState(ctx.bindingState).sandbox,
    conclude(outputs) {
      const credentials = outputs.credentials ?? facts.state.credentials
      if (credentials === undefined)
        throw new TerminalError('The bundle gave no credentials: neither its bind nor its provision wrote any.')
      const values = changeValues(facts.binding.state.values, outputs.bindingState)
      return { credentials, state: toStored(values, outputs.credentials), ...instanceChanges(facts, outputs) }
    },
  })
}

export async function unbind(bundle: Bundle, ctx: UnbindContext<JsonObject, JsonObject>): Done<UnbindResult> {
  const facts = await bindingFacts(bundle, ctx, { action: 'unbind' })
  return run(bundle, ctx, facts, {
    saved: () => readState(ctx.bindingState).sandbox,
    conclude: outputs => instanceChanges(facts, outputs),
  })
}

async function instanceFacts(
  { parts, revision }: Bundle,
  ctx: ProvisionContext<JsonObject> | DeprovisionContext<JsonObject, JsonObject>,
  more: Pick<ActionFacts, 'action' | 'previous'>,
): Promise<ActionFacts> {
  const secrets = await parts.secretsFor(revision.fullName)
  return { ctx, revision, state: readState(ctx.state), parameters: ctx.parameters, secrets, ...more }
}

async function bindingFacts(
  { parts, revision }: Bundle,
  ctx: BindContext<JsonObject, JsonObject> | UnbindContext<JsonObject, JsonObject>,
  { action, parameters }: { readonly action: 'bind' | 'unbind'; readonly parameters?: JsonObject },
) {
  const secrets = await parts.secretsFor(revision.fullName)
  const binding = {
    info: ctx.binding,
    state: readState(ctx.bindingState),
    parameters,
  }
  const state = readState(ctx.state)
  return { ctx, action, revision, state, parameters: ctx.instance.parameters, binding, secrets } satisfies ActionFacts
}

function run<Result>(
  bundle: Bundle,
  ctx: ActionContext,
  facts: ActionFacts,
  task: { readonly saved: () => ReturnType<typeof readState>['sandbox']; conclude(outputs: SandboxOutputs): Result },
): Done<Result> {
  const { action, binding, state } = facts
  return runBundle(bundle, {
    ctx,
    action,
    bindingId: binding?.info.id,
    beside: binding && state.sandbox,
    saved: task.saved,
    inputs: () => toInputs(bundle, facts),
    secrets: secretsOf(facts, bundle.sensitive),
    conclude: outputs => task.conclude(outputs),
  })
}

function toInputs({ parts, sensitive }: Bundle, facts: ActionFacts): SandboxInputs {
  const open = secretsOf(facts, sensitive).length === 0 && Object.keys(facts.state.values).length === 0
  return {
    action: facts.action,
    input: toInput(facts),
    extraVars: toExtraVars(facts),
    open,
    state: facts.state.values,
    bindingState: facts.binding?.state.values,
    helpers: parts.helpers,
    env: parts.env,
  }
}

/** An update that gives new credentials replaces those of the provision. */
function toResult({ state }: ActionFacts, outputs: SandboxOutputs): ProvisionResult<JsonObject> {
  const { dashboardUrl } = outputs
  return {
    state: toStored(changeValues(state.values, outputs.state), outputs.credentials ?? state.credentials),
    dashboardUrl,
  }
}

/** Binds of one instance may run side by side: what they change is merged when they end. */
function instanceChanges({ state }: ActionFacts, outputs: SandboxOutputs): UnbindResult {
  if (outputs.state === undefined) return {}
  changeValues(state.values, outputs.state)
  return { instanceState: { state: outputs.state } }
}
