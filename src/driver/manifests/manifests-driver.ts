import type { Service } from '../../author/define-service.ts'
import type { BindResult, ProvisionResult } from '../../author/results.ts'
import { type BundleAction, bundleActions } from '../../bundle/actions.ts'
import { type CompiledManifests, compileManifests } from '../../bundle/manifest-templates.ts'
import type { BundleSpec } from '../../bundle/spec.ts'
import type { Revision } from '../../domain/revision.ts'
import { TerminalError } from '../../engine/errors.ts'
import { isWait, type Wait } from '../../engine/work.ts'
import type { JsonObject } from '../../protocol/json.ts'
import { isBindable } from '../../protocol/offering.ts'
import { type InstanceContext, withoutSecrets } from '../bundle/bundle-driver.ts'
import { actionSettings } from '../bundle/limits.ts'
import { sensitiveNamesOf } from '../bundle/secrets.ts'
import { listHeld } from './list-held.ts'
import { DeadlineError, look, makeObjects, UnmadeError } from './make.ts'
import { observeObjects } from './observe.ts'
import type { Kept, ManifestParts, ManifestService } from './parts.ts'
import { keyOf, type Ref, toJsonRefs } from './refs.ts'
import { removeObjects } from './remove.ts'
import { openRunning, type Running, type Subject } from './running.ts'

/**
 * Makes a service of a revision that consists of manifests. Like any other service it stands on the author's API alone, so that
 * all that is promised to authors is promised to it.
 */
export function createManifestsDriver(parts: ManifestParts): (revision: Revision, spec: BundleSpec) => Service {
  return (revision, spec) => {
    const service = toManifestService(parts, revision, spec)
    const { offering } = revision
    const { bind, unbind, ...actions } = manifestActions(service)
    const settings = actionSettings(spec)
    const { bind: _, unbind: __, ...ofInstances } = settings
    const bindable = offering.plans.some(plan => isBindable(offering, plan))
    return {
      ...offering,
      callTimeout: '60s',
      observeEvery: spec.manifests?.observeEvery,
      actions: bindable ? settings : ofInstances,
      bindings: spec.bindings,
      ...actions,
      bind: bindable ? bind : undefined,
      unbind: bindable ? unbind : undefined,
      observe: async ctx =>
        observeObjects(
          await openRunning(service, { ...instanceSubject(ctx, 'observe'), parameters: ctx.parameters }),
          async () => (bindable ? ctx.bindings() : []),
        ),
      list: ({ signal }) => listHeld(service, signal),
      // It may consist of patches, and of what several instances have; what is deleted is put back.
      emptyInstances: true,
      fetchInstance: ({ body }) => withoutSecrets(body, service.sensitive.parameters),
      fetchBinding: ({ body }) => withoutSecrets(body, service.sensitive.bindParameters),
    }
  }
}

export function toManifestService(parts: ManifestParts, revision: Revision, spec: BundleSpec): ManifestService {
  let compiled: Promise<CompiledManifests> | undefined
  const compile = async () => {
    if (spec.manifests === undefined) throw new Error(`${revision.fullName} has no manifests`)
    return (await compileManifests(spec.manifests)).compiled
  }
  return {
    ...{ parts, revision, spec, sensitive: sensitiveNamesOf(spec) },
    compiled: () => {
      compiled ??= compile()
      return compiled
    },
  }
}

function instanceSubject(ctx: InstanceContext, action: Subject['action']): Subject {
  return { ctx, action, parameters: ctx.parameters, state: ctx.state, own: () => ctx.state }
}

export function manifestActions(service: ManifestService) {
  const open = (ctx: InstanceContext, action: BundleAction) => openRunning(service, instanceSubject(ctx, action))
  return {
    provision: async ctx => provision(await open(ctx, 'provision')),
    update: async ctx => update(await open(ctx, 'update')),
    deprovision: async ctx => {
      const running = await open(ctx, 'deprovision')
      return (await undo(running, 'deprovision')) ?? {}
    },
    bind: async ctx =>
      bind(
        await openRunning(service, {
          ...{ ctx, action: 'bind', parameters: ctx.instance.parameters, state: ctx.state },
          binding: { info: ctx.binding, parameters: ctx.parameters },
          own: () => ctx.bindingState,
        }),
      ),
    unbind: async ctx => {
      const running = await openRunning(service, {
        ...{ ctx, action: 'unbind', parameters: ctx.instance.parameters, state: ctx.state },
        binding: { info: ctx.binding, parameters: {} },
        own: () => ctx.bindingState,
      })
      return (await undo(running, 'unbind')) ?? {}
    },
  } satisfies Pick<Service, BundleAction>
}

async function provision(running: Running): Promise<ProvisionResult<JsonObject> | Wait> {
  return unlessRefused(running, async () => {
    const waiting = await makeObjects(running, running.compiled.actions.provision)
    return waiting ?? finish(running)
  })
}

/** The objects of the provision as they are now wanted, those of the update for as long as it runs; what is left over goes. */
async function update(running: Running): Promise<ProvisionResult<JsonObject> | Wait> {
  const { compiled } = running
  const waiting =
    (await makeObjects(running, compiled.actions.provision)) ??
    (await makeObjects(running, compiled.actions.update, { passing: true }))
  if (waiting !== undefined) return waiting
  const result = await finish(running)
  const wanted = new Set((await wantedRefs(running)).map(keyOf))
  const left = running.state.objects.filter(ref => !wanted.has(keyOf(ref)))
  const removing = await removeObjects(running, left)
  if (removing !== undefined) return removing
  const kept = running.state.objects.filter(ref => wanted.has(keyOf(ref)))
  return { ...result, state: { ...result.state, objects: toJsonRefs(kept) } }
}

async function wantedRefs(running: Running): Promise<readonly Pick<Ref, keyof Ref>[]> {
  const refs: Ref[] = []
  for (const given of running.compiled.actions.provision) {
    if (given.mode === 'read' || !running.isWanted(given)) continue
    const { namespace, object, shared } = await running.place(given)
    const { name, apiVersion, kind, mode } = given
    refs.push({ name, apiVersion, kind, mode, namespace, object, shared })
  }
  return refs
}

async function finish(running: Running): Promise<ProvisionResult<JsonObject>> {
  const { compiled, compute, values, state, generated } = running
  const kept = compute('The state', () => compiled.state.render(values()))
  const url = compiled.dashboardUrl && compute('The URL', () => compiled.dashboardUrl?.render(values()))
  return {
    state: { objects: toJsonRefs(state.objects), generated, values: kept, made: true },
    dashboardUrl: typeof url === 'string' && url !== '' ? url : undefined,
  }
}

async function bind(running: Running): Promise<BindResult<JsonObject, JsonObject> | Wait> {
  return unlessRefused(running, async () => {
    const { compiled, compute, values } = running
    const waiting = (await readInstance(running)) ?? (await makeObjects(running, compiled.actions.bind))
    if (waiting !== undefined) return waiting
    const credentials = compute('The credentials', () => compiled.credentials.render(values())) as JsonObject
    const { objects } = running.state
    return { credentials, state: { objects: toJsonRefs(objects), generated: running.generated, made: true } }
  })
}

/** What of the instance's objects the binding's templates name. */
async function readInstance(running: Running): Promise<Wait | undefined> {
  const { compiled, ctx } = running
  const later = [...compiled.actions.bind, ...compiled.actions.unbind, ...compiled.actions.deprovision]
  const templates = [compiled.credentials, ...later.flatMap(one => [one.template, one.labels, one.when, one.shared])]
  const named = new Set(templates.flatMap(one => one?.reads('objects') ?? []))
  for (const given of compiled.actions.provision) {
    // One that is named may need another one to be found.
    for (const name of named.has(given.name) ? given.template.reads('objects') : []) named.add(name)
  }
  for (const given of compiled.actions.provision) {
    if (!named.has(given.name) || !running.isWanted(given)) continue
    const placed = await running.place(given)
    const live = await look(running, placed)
    if (live === undefined) return ctx.wait('5s', `${given.kind} ${placed.object} of the instance is not there`)
    running.remember(given.name, live)
  }
  return undefined
}

/** What the action makes for itself, where there is something to undo; then everything goes. */
async function undo(running: Running, action: 'deprovision' | 'unbind'): Promise<Wait | undefined> {
  const { compiled, state } = running
  const own = compiled.actions[action]
  if (own.length > 0 && state.made) {
    const waiting = (await readInstance(running)) ?? (await makeObjects(running, own, { passing: true }))
    if (waiting !== undefined) return waiting
  }
  return removeObjects(running, running.state.objects)
}

/**
 * What the cluster refuses leaves nothing behind: what was made before it is removed, and then the action fails. What only took
 * too long stays: it may still become ready.
 */
async function unlessRefused<Result>(running: Running, work: () => Promise<Result | Wait>): Promise<Result | Wait> {
  const { ctx } = running
  const earlier = running.state.refused?.operation
  if (earlier !== ctx.operation.id) {
    if (earlier !== undefined) await ctx.saveState({ refused: null })
    try {
      return await work()
    } catch (error) {
      if (!(error instanceof TerminalError) || error instanceof DeadlineError) throw error
      const made = running.state.objects.filter(ref => !(error instanceof UnmadeError && error.key === keyOf(ref)))
      const refused = { operation: ctx.operation.id, message: error.message }
      await ctx.saveState({ refused, objects: toJsonRefs(made) })
    }
  }
  const { refused, objects } = running.state
  const waiting = await removeObjects(running, objects)
  if (isWait(waiting)) return waiting
  await ctx.saveState({ objects: [] })
  throw new TerminalError(refused?.message ?? 'The cluster refuses it.')
}

/** The kinds of objects that a service has to do with. */
export function kindsOf({ manifests }: Pick<BundleSpec, 'manifests'>) {
  if (manifests === undefined) return []
  return bundleActions.flatMap(action =>
    manifests[action].map(({ mode, template: { apiVersion, kind } }) => ({ mode, apiVersion, kind })),
  )
}

/** Of these, what it makes or patches. */
export function keptBy(spec: Pick<BundleSpec, 'manifests'>): readonly Kept[] {
  return kindsOf(spec).flatMap(({ mode, ...kind }) => (mode === 'read' ? [] : { mode, ...kind }))
}
