import type { Hook } from '../author/broker-definition.ts'
import { checkResult, wrongResult } from '../author/check-result.ts'
import type { AnyResult, BindResult, ObserveResult, ProvisionResult, UnbindResult } from '../author/results.ts'
import type { Binding } from '../domain/binding.ts'
import { expiryOf } from '../domain/expiry.ts'
import { limits } from '../domain/limits.ts'
import { mergePatch } from '../domain/merge-patch.ts'
import type { Operation } from '../domain/operation.ts'
import type { ActionResult } from '../domain/outcome.ts'
import { TerminalError } from '../engine/errors.ts'
import type { Run } from '../engine/run.ts'
import { toJson } from '../engine/to-json.ts'
import { isWait, type Wait } from '../engine/work.ts'
import type { Ledger } from '../ledger.ts'
import type { Action } from '../protocol/actions.ts'
import { answers } from '../protocol/answers.ts'
import { latestMinor } from '../protocol/api-version.ts'
import type { JsonObject } from '../protocol/json.ts'
import type { Offering, Requires } from '../protocol/offering.ts'
import type { Reads } from '../reads.ts'
import type { ReadSettings } from '../settings/settings.ts'
import { toWire } from '../shape/wire.ts'
import { type ContextInUse, type ContextOptions, createActionContext } from './action-context.ts'
import { checkState } from './read-state.ts'
import type { ResolvedService } from './resolve-services.ts'
import { waitForObservations } from './wait-for-observations.ts'
import { waitForSweeps } from './wait-for-sweeps.ts'

export interface Performing {
  readonly run: Run
  readonly service: ResolvedService
  readonly settings: ReadSettings
  readonly store: Reads & Pick<Ledger, 'accept'>
  readonly storeNow: () => number
  readonly hooks: readonly Hook[]
}

/** One run of one operation, as a sentence: the hooks before, the author's action, the hooks after. */
export async function performAction(performing: Performing): Promise<ActionResult | Wait> {
  const wait = (await waitForObservations(performing)) ?? (await waitForSweeps(performing))
  if (wait !== undefined) return wait
  const hooks = hooksFor(performing)
  // Without hooks nobody needs a context besides the action's own: the parameters are parsed once.
  if (hooks.length === 0) return act(performing)
  const inUse = await contextFor(performing)
  for (const hook of hooks) await runHook(performing, inUse, hook, 'before')
  const result = await act(performing)
  if (isWait(result)) return result
  for (const hook of hooks) await runHook(performing, inUse, hook, 'after')
  return result
}

async function runHook(
  { run }: Performing,
  { context, waits }: ContextInUse,
  hook: Hook,
  when: 'before' | 'after',
): Promise<void> {
  if (hook[when] === undefined) return
  await run.step(`${when}: ${hook.name}`, async () => {
    await hook[when]?.(context)
    if (waits.size > 0) throw new TerminalError(`The hook "${hook.name}" called ctx.wait. Only an action can wait.`)
  })
}

/** Tells the hooks that the action has failed for good; none of them can change that. */
export async function reportFailure(
  performing: Performing,
  error: unknown,
  onHookError: (hook: string, error: unknown) => void,
): Promise<void> {
  for (const hook of hooksFor(performing)) {
    try {
      await hook.error?.((await contextFor(performing)).context, error)
    } catch (hookError) {
      onHookError(hook.name, hookError)
    }
  }
}

/** Hooks belong to what platforms ask for; observations and sweeps have none unless a hook names them. */
function hooksFor({ hooks, run }: Performing): readonly Hook[] {
  const { action } = run.claim.operation
  const internal = action === 'observe' || action === 'sweep'
  return hooks.filter(hook => (hook.actions === undefined ? !internal : hook.actions.includes(action)))
}

function contextFor(performing: Performing): Promise<ContextInUse> {
  const { operation, binding } = performing.run.claim
  return createActionContext({ action: operation.action, binding, ...performing })
}

function act(performing: Performing): Promise<ActionResult | Wait> {
  const { action, bindingId } = performing.run.claim.operation
  switch (action) {
    case 'provision':
    case 'update':
      return provisionOrUpdate(performing, action)
    case 'bind':
      return bind(performing)
    case 'observe':
      return observe(performing)
    case 'deprovision':
    case 'unbind':
    case 'sweep':
      return bindingId === undefined ? deprovision(performing) : unbind(performing)
  }
}

type Calling = Pick<ContextOptions, 'binding' | 'stepPrefix' | 'predecessorState'> & {
  readonly action: Exclude<Action, 'sweep'>
}

/** Calls the author's code. What it returns is checked here, once. */
async function call<Result extends object>(performing: Performing, calling: Calling): Promise<Wait | Result> {
  const { action } = calling
  const { context, waits } = await createActionContext({ ...calling, ...performing })
  const result: unknown = await performing.service.code[action]?.(context)
  if (isWait(result) && waits.has(result) && action !== 'observe') return result
  if (waits.size > 0) throw new TerminalError(droppedWait(action))
  return checkResult(action, result) as Result
}

function droppedWait(action: Action): string {
  if (action === 'observe')
    return 'The observe called ctx.wait. Return { ready: false }: it runs again on its schedule.'
  return `The ${action} called ctx.wait and did not return it. Write: return ctx.wait(…).`
}

async function provisionOrUpdate(performing: Performing, action: 'provision' | 'update'): Promise<ActionResult | Wait> {
  const { code } = performing.service
  const result = await call<ProvisionResult<JsonObject>>(performing, { action })
  if (isWait(result)) return result
  const state = result.state ?? performing.run.state
  // An update that returns no state leaves what it found, which may still be that of an older release.
  if (code.state !== undefined && (action === 'provision' || result.state !== undefined))
    await checkState(code, 'state', state)
  return { ...result, state }
}

/** Bindings that are still there (failed ones always, live ones with `cascadeDelete`) go before the instance. */
async function deprovision(performing: Performing): Promise<ActionResult | Wait> {
  const { run, store } = performing
  const { instance, operation } = run.claim
  const unbound = [...(await store.bindings(instance.id)), ...(await bindingsToSweep(store, operation))]
  for (const binding of unbound) {
    const result = await call(performing, { action: 'unbind', binding, stepPrefix: `unbind ${binding.id}: ` })
    if (isWait(result)) return result
  }
  const result = await call<AnyResult>(performing, { action: 'deprovision' })
  return isWait(result) ? result : { ...result, unbound }
}

/** Those that went with their instance, as they were then. A purge may have been faster. */
async function bindingsToSweep(store: Reads, { instanceId, input }: Operation): Promise<readonly Binding[]> {
  const found = await Promise.all((input.unbind ?? []).map(id => store.binding(instanceId, id)))
  return found.filter(binding => binding !== undefined)
}

async function bind(performing: Performing): Promise<ActionResult | Wait> {
  const { run, service, store } = performing
  const { binding } = run.claim
  if (binding === undefined || service.code.bind === undefined) throw new TerminalError('This service cannot be bound.')
  const before =
    binding.predecessorId === undefined ? undefined : await store.binding(binding.instanceId, binding.predecessorId)
  const calling = { action: 'bind', binding, predecessorState: before?.state } as const
  const result = await call<BindResult<object, JsonObject>>(performing, calling)
  if (isWait(result)) return result
  const body = toBindingBody(service, result, performing.storeNow())
  const state = result.state ?? run.state
  await checkState(service.code, 'bindingState', state)
  await checkInstanceState(performing, 'bind', result)
  return { ...body, state, instanceState: result.instanceState, message: result.message }
}

async function unbind(performing: Performing): Promise<ActionResult | Wait> {
  const { binding } = performing.run.claim
  if (binding === undefined) return {}
  const result = await call<UnbindResult>(performing, { action: 'unbind', binding })
  if (!isWait(result)) await checkInstanceState(performing, 'unbind', result)
  return result
}

/** The patch may be small, and the state that it is merged into large. */
async function checkInstanceState({ run, store }: Performing, action: Action, result: UnbindResult): Promise<void> {
  if (result.instanceState === undefined) return
  const { id, state } = (await store.instance(run.claim.instance.id)) ?? run.claim.instance
  const path = `the state of the instance ${id}, with instanceState merged into it,`
  const what = `The ${action} returned a wrong result`
  toJson(mergePatch(state, result.instanceState), { what, path, bytes: limits.stateBytes })
}

async function observe(performing: Performing): Promise<ActionResult | Wait> {
  if (performing.service.code.observe === undefined) return { observed: { ready: true } }
  const seen = await call<ObserveResult>(performing, { action: 'observe' })
  return isWait(seen) ? seen : { observed: seen }
}

/** What an author's bind returned, as platforms read it. It was checked where it was returned. */
function toBindingBody(
  { offering, bindings }: ResolvedService,
  result: BindResult<object, object>,
  now: number,
): Pick<ActionResult, 'binding' | 'expiresAt' | 'renewBefore'> {
  const { credentials, syslogDrainUrl, routeServiceUrl, volumeMounts, endpoints, metadata } = result
  if (syslogDrainUrl !== undefined) needs(offering, 'syslog_drain', 'syslogDrainUrl')
  if (routeServiceUrl !== undefined) needs(offering, 'route_forwarding', 'routeServiceUrl')
  if (volumeMounts !== undefined) needs(offering, 'volume_mount', 'volumeMounts')
  // A service with `requires` may arrange everything with the platform in other ways.
  if ((offering.requires ?? []).length === 0 && credentials === undefined && endpoints === undefined)
    throw wrongResult('bind', 'credentials are missing; return { credentials: {} } where an application needs none')
  const given = { expiresAt: toTime(metadata?.expiresAt), renewBefore: toTime(metadata?.renewBefore) }
  const { expiresAt, renewBefore } = expiryOf(given, bindings, now)
  const answer = {
    credentials: credentials as JsonObject | undefined,
    syslogDrainUrl,
    routeServiceUrl,
    volumeMounts,
    endpoints,
    metadata: { expiresAt: toIso(expiresAt), renewBefore: toIso(renewBefore) },
  }
  return { binding: toWire(answers.bind, answer, latestMinor), expiresAt, renewBefore }
}

function toTime(time: Date | string | undefined): number | undefined {
  return time === undefined ? undefined : new Date(time).getTime()
}

function toIso(time: number | undefined): string | undefined {
  return time === undefined ? undefined : new Date(time).toISOString()
}

/** A platform would throw the answer away and leave the credentials behind. */
function needs(offering: Offering, permission: Requires, key: string): void {
  if (offering.requires?.includes(permission)) return
  throw wrongResult('bind', `${key} needs requires: ['${permission}'] in the catalog, or platforms reject it`)
}
