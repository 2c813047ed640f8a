import type { Hook } from '../author/broker-definition.ts'
import type { ActionContext } from '../author/context.ts'
import type { BindResult, ObserveResult, ProvisionResult, UnbindResult } from '../author/results.ts'
import type { Binding } from '../domain/binding.ts'
import type { Operation } from '../domain/operation.ts'
import type { ActionResult } from '../domain/outcome.ts'
import { TerminalError } from '../engine/errors.ts'
import { beforePrefix, type Run } from '../engine/run.ts'
import { isWait, type Wait } from '../engine/work.ts'
import type { Action } from '../protocol/actions.ts'
import { isJsonObject, type JsonObject } from '../protocol/json.ts'
import type { Reads } from '../reads.ts'
import { createActionContext } from './action-context.ts'
import type { ResolvedService } from './resolve-services.ts'
import type { BrokerSettings } from './settings.ts'
import { toBindingBody } from './to-binding-body.ts'

export interface Performing {
  readonly run: Run
  readonly service: ResolvedService
  readonly settings: BrokerSettings
  readonly store: Reads
  readonly hooks: readonly Hook[]
}

/** One run of one operation, as a sentence: the hooks before, the author's action, the hooks after. */
export async function performAction(performing: Performing): Promise<ActionResult | Wait> {
  const { run } = performing
  const hooks = hooksFor(performing)
  // Without hooks nobody needs a context besides the action's own: the parameters are parsed once.
  if (hooks.length === 0) return act(performing)
  const context = await contextFor(performing)
  for (const hook of hooks)
    if (hook.before !== undefined) await run.step(beforePrefix + hook.name, () => hook.before?.(context))
  const result = await act(performing)
  if (isWait(result)) return result
  for (const hook of hooks)
    if (hook.after !== undefined) await run.step(`after: ${hook.name}`, () => hook.after?.(context))
  return result
}

/** Tells the hooks that the action has failed for good; none of them can change that. */
export async function reportFailure(
  performing: Performing,
  error: unknown,
  onHookError: (hook: string, error: unknown) => void,
): Promise<void> {
  for (const hook of hooksFor(performing)) {
    try {
      await hook.error?.(await contextFor(performing), error)
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

async function contextFor(performing: Performing): Promise<ActionContext> {
  const { operation, binding } = performing.run.claim
  return createActionContext({
    ...performing,
    action: operation.action,
    binding,
  })
}

async function act(performing: Performing): Promise<ActionResult | Wait> {
  const { operation, binding } = performing.run.claim
  switch (operation.action) {
    case 'provision':
    case 'update':
      return provisionOrUpdate(performing, operation.action)
    case 'deprovision':
      return deprovision(performing)
    case 'bind':
      return bind(performing)
    case 'unbind':
      return unbind(performing, binding)
    case 'observe':
      return observe(performing)
    case 'sweep':
      return operation.bindingId === undefined ? deprovision(performing) : unbind(performing, binding)
  }
}

async function provisionOrUpdate(performing: Performing, action: 'provision' | 'update'): Promise<ActionResult | Wait> {
  const { code } = performing.service
  const context = await createActionContext({ ...performing, action })
  const result = await (action === 'provision' ? code.provision(context) : code.update?.(context))
  if (isWait(result)) return result
  const { state, dashboardUrl, metadata }: ProvisionResult<object> = result ?? {}
  return {
    state: toState(state) ?? performing.run.state,
    dashboardUrl,
    metadata,
  }
}

/** Bindings that are still there (failed ones always, live ones with `cascadeDelete`) go before the instance. */
async function deprovision(performing: Performing): Promise<ActionResult | Wait> {
  const { run, service, store } = performing
  const { instance, operation } = run.claim
  const unbound = [...(await store.bindings(instance.id)), ...(await bindingsToSweep(store, operation))]
  for (const binding of unbound) {
    const waiting = await unbindNested(performing, binding)
    if (waiting !== undefined) return waiting
  }
  const context = await createActionContext({ ...performing, action: 'deprovision' })
  const result = await service.code.deprovision(context)
  return isWait(result) ? result : { unbound }
}

/** Those that went with their instance, as they were then. A purge may have been faster. */
async function bindingsToSweep(store: Reads, { instanceId, input }: Operation): Promise<readonly Binding[]> {
  const found = await Promise.all((input.unbind ?? []).map(id => store.binding(instanceId, id)))
  return found.filter(binding => binding !== undefined)
}

async function unbindNested(performing: Performing, binding: Binding): Promise<Wait | undefined> {
  const stepPrefix = `unbind ${binding.id}: `
  const context = await createActionContext({ ...performing, action: 'unbind', binding, stepPrefix })
  const result = await performing.service.code.unbind?.(context)
  return isWait(result) ? result : undefined
}

async function bind(performing: Performing): Promise<ActionResult | Wait> {
  const { run, service, store } = performing
  const { binding } = run.claim
  if (binding === undefined || service.code.bind === undefined) throw new TerminalError('This service cannot be bound.')
  const before =
    binding.predecessorId === undefined ? undefined : await store.binding(binding.instanceId, binding.predecessorId)
  const context = await createActionContext({
    ...performing,
    action: 'bind',
    binding,
    predecessorState: before?.state,
  })
  const result = await service.code.bind(context)
  if (isWait(result)) return result
  const bound: BindResult<object, object> = result ?? {}
  const { body, expiresAt } = toBindingBody(service.offering, bound)
  return {
    binding: body,
    state: toState(bound.state) ?? run.state,
    instanceState: bound.instanceState,
    expiresAt,
  }
}

async function unbind(performing: Performing, binding: Binding | undefined): Promise<ActionResult | Wait> {
  if (binding === undefined) return {}
  const context = await createActionContext({ ...performing, action: 'unbind', binding })
  const result = await performing.service.code.unbind?.(context)
  if (isWait(result)) return result
  const { instanceState }: UnbindResult = result ?? {}
  return instanceState === undefined ? {} : { instanceState }
}

async function observe(performing: Performing): Promise<ActionResult | Wait> {
  const context = await createActionContext({ ...performing, action: 'observe' satisfies Action })
  const seen: ObserveResult = (await performing.service.code.observe?.(context)) ?? { ready: true }
  return { observed: seen, state: performing.run.state }
}

function toState(state: object | undefined): JsonObject | undefined {
  if (state === undefined) return undefined
  if (!isJsonObject(state)) throw new TerminalError('The state that the action returned is not an object.')
  return state
}
