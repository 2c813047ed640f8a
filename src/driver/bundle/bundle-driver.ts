import type { ActionContext, BindingInfo } from '../../author/context.ts'
import type { Service } from '../../author/define-service.ts'
import type { BindResult, ProvisionResult, UnbindResult } from '../../author/results.ts'
import type { BundleAction } from '../../bundle/actions.ts'
import type { BundleSpec } from '../../bundle/spec.ts'
import type { Revision } from '../../domain/revision.ts'
import { TerminalError } from '../../engine/errors.ts'
import { isWait, type Wait } from '../../engine/work.ts'
import { isJsonObject, type JsonObject } from '../../protocol/json.ts'
import { isBindable } from '../../protocol/offering.ts'
import type { SandboxInputs, SandboxOutputs } from '../../sandbox.ts'
import { type BundleTask, pullTimeout } from './attempt.ts'
import { type ActionFacts, type BindingFacts, namespaceOf, originOf, secretsOf, toExtraVars, toInput } from './facts.ts'
import { actionSettings } from './limits.ts'
import type { Bundle, BundleParts } from './parts.ts'
import { runBundle } from './run-bundle.ts'
import { entriesOf, omitNamed, sensitiveNamesOf } from './secrets.ts'
import { type Kept, showKept } from './show-kept.ts'
import { type BundleState, changeValues, readState, toStored } from './state.ts'

/**
 * Makes a service of a revision: its actions run the bundle's in sandboxes. Like any other service it stands on the
 * author's API alone, so that all that is promised to authors is promised to bundles.
 */
export function createBundleDriver(parts: BundleParts): (revision: Revision, spec: BundleSpec) => Service {
  return (revision, spec) => createBundleService({ parts, revision, spec, sensitive: sensitiveNamesOf(spec) })
}

function createBundleService(bundle: Bundle): Service {
  const { spec, sensitive } = bundle
  const { offering } = bundle.revision
  const { bind, unbind, ...actions } = actionsOf(bundle)
  const bindable = offering.plans.some(plan => isBindable(offering, plan))
  return {
    ...offering,
    callTimeout: pullTimeout,
    actions: actionSettings(spec),
    bindings: spec.bindings,
    dashboard: spec.alpha.dashboardRedirect === true ? 'redirect' : undefined,
    ...actions,
    bind: bindable ? bind : undefined,
    unbind: bindable ? unbind : undefined,
    fetchInstance: ({ body }) => withoutSecrets(body, sensitive.parameters),
    fetchBinding: ({ body }) => withoutSecrets(body, sensitive.bindParameters),
  }
}

/** A sensitive parameter is never shown, not even to the user who set it. */
export function withoutSecrets(body: JsonObject, names: ReadonlySet<string>): JsonObject {
  return isJsonObject(body.parameters) ? { ...body, parameters: omitNamed(body.parameters, names) } : body
}

export function actionsOf(bundle: Bundle) {
  return {
    provision: ctx =>
      runForInstance(
        bundle,
        ctx,
        { action: 'provision', kept: ({ state = {} }) => keptIn(readState(state)) },
        toResult,
      ),
    update: ctx =>
      runForInstance(
        bundle,
        ctx,
        { action: 'update', previous: ctx.previous, kept: ({ state = {} }) => keptIn(readState(state)) },
        toResult,
      ),
    // The state goes with the instance, and only with it: what a deprovision that failed wants to keep has no use.
    deprovision: ctx =>
      runForInstance(bundle, ctx, { action: 'deprovision', kept: () => ({}) }, ({ message }) => ({ message })),
    bind: ctx =>
      runForBinding(
        bundle,
        ctx,
        { action: 'bind', parameters: ctx.parameters, kept: ({ credentials }) => ({ credentials }) },
        toBound,
      ),
    unbind: ctx => runForBinding(bundle, ctx, { action: 'unbind' }, instanceChanges),
  } satisfies Pick<Service, BundleAction>
}

/** Changes nothing of what is kept, whatever it does to the instance. */
export function testBundle(bundle: Bundle, ctx: InstanceContext) {
  return runForInstance(bundle, ctx, { action: 'test' }, ({ message }) => ({ message }))
}

export type InstanceContext = ActionContext & { readonly parameters: JsonObject; readonly state: JsonObject }

async function runForInstance<Result>(
  bundle: Bundle,
  ctx: InstanceContext,
  { kept, ...more }: Pick<ActionFacts, 'action' | 'previous'> & Keeps<Result>,
  conclude: (outputs: SandboxOutputs, state: BundleState) => Result,
): Promise<Result | Wait> {
  const state = readState(ctx.state)
  const known = { ctx, state, parameters: ctx.parameters, ...more }
  const saved = () => readState(ctx.state).sandbox
  const result = await run(bundle, known, { saved, conclude: outputs => conclude(outputs, state) })
  if (!isWait(result) && kept !== undefined)
    await showKept(bundle, ctx, more.action, [{ id: ctx.instance.id, ...kept(result) }])
  return result
}

interface Keeps<Result> {
  /** What is kept of the resource from then on. Absent: what was kept before. */
  readonly kept?: (result: Result) => Omit<Kept, 'id'>
}

async function runForBinding<Result>(
  bundle: Bundle,
  ctx: ActionContext & { readonly binding: BindingInfo; readonly state: JsonObject; readonly bindingState: JsonObject },
  { action, parameters, kept }: Pick<ActionFacts, 'action'> & Pick<BindingFacts, 'parameters'> & Keeps<Result>,
  conclude: (outputs: SandboxOutputs, state: BundleState, bindingState: BundleState) => Result,
): Promise<Result | Wait> {
  const state = readState(ctx.state)
  const binding = { info: ctx.binding, state: readState(ctx.bindingState), parameters }
  const known = { ctx, action, state, parameters: ctx.instance.parameters, binding }
  const saved = () => readState(ctx.bindingState).sandbox
  let changes: SandboxOutputs['state']
  const result = await run(bundle, known, {
    saved,
    conclude(outputs) {
      changes = outputs.state
      return conclude(outputs, state, binding.state)
    },
  })
  if (isWait(result)) return result
  const ofInstance = changes && { ...keptIn(state), state: changeValues(state.values, changes) }
  await showKept(bundle, ctx, action, [
    { id: ctx.binding.id, ...kept?.(result) },
    ...(ofInstance === undefined ? [] : [{ id: ctx.instance.id, ...ofInstance }]),
  ])
  return result
}

function keptIn({ values, credentials }: BundleState): Omit<Kept, 'id'> {
  return { state: values, credentials }
}

async function run<Result>(
  bundle: Bundle,
  known: Omit<ActionFacts, 'revision' | 'secrets'>,
  task: Pick<BundleTask<Result>, 'saved' | 'conclude'>,
): Promise<Result | Wait> {
  const { parts, revision, sensitive } = bundle
  const { ctx, action, state, binding } = known
  const given = await parts.secretsFor(revision.fullName)
  const facts = { ...known, revision, secrets: entriesOf(given) }
  const secrets = secretsOf(facts, sensitive)
  const inputs = (sandbox: string): SandboxInputs => ({
    action,
    input: toInput(facts),
    extraVars: toExtraVars(facts),
    open: secrets.length === 0 && Object.keys(state.values).length === 0,
    state: state.values,
    bindingState: binding?.state.values,
    secrets: given,
    helpers: parts.helpers,
    // Bundles of the Automation Broker give out credentials and progress only where these are set.
    env: {
      ...parts.env,
      POD_NAME: sandbox,
      POD_NAMESPACE: namespaceOf(facts) || 'default',
      ...(ctx.operation.traceparent && { TRACEPARENT: ctx.operation.traceparent }),
    },
  })
  const ofBinding = binding && { bindingId: binding.info.id, beside: state.sandbox }
  return runBundle(bundle, { ...task, ...ofBinding, ctx, action, secrets, inputs, origin: originOf(facts) })
}

/** An update that gives new credentials replaces those of the provision. */
function toResult(outputs: SandboxOutputs, state: BundleState): ProvisionResult<JsonObject> {
  const { message, dashboardUrl, credentials = state.credentials } = outputs
  return { state: toStored(changeValues(state.values, outputs.state), credentials), dashboardUrl, message }
}

function toBound(
  outputs: SandboxOutputs,
  state: BundleState,
  bindingState: BundleState,
): BindResult<JsonObject, JsonObject> {
  const credentials = outputs.credentials ?? state.credentials
  if (credentials === undefined)
    throw new TerminalError('The bundle gave no credentials: neither its bind nor its provision wrote any.')
  const values = changeValues(bindingState.values, outputs.bindingState)
  return { credentials, state: toStored(values, outputs.credentials), ...instanceChanges(outputs, state) }
}

/** Binds of one instance may run side by side: what they change is merged when they end. */
function instanceChanges(outputs: SandboxOutputs, state: BundleState): UnbindResult {
  const { message } = outputs
  if (outputs.state === undefined) return { message }
  changeValues(state.values, outputs.state)
  return { message, instanceState: { state: outputs.state } }
}
