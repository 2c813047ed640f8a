import type { ActionContext, BindingInfo } from '../../author/context.ts'
import type { BundleAction } from '../../bundle/actions.ts'
import type { CompiledManifests, CompiledObject } from '../../bundle/manifest-templates.ts'
import { TerminalError } from '../../engine/errors.ts'
import { ExpressionError } from '../../expression/expression.ts'
import type { Kind } from '../../kubernetes/kinds.ts'
import { listAll } from '../../kubernetes/list.ts'
import type { KubernetesObject } from '../../kubernetes/objects.ts'
import type { OpenCluster } from '../../kubernetes/open-later.ts'
import { isJsonObject, type Json, type JsonObject } from '../../protocol/json.ts'
import { secretsIn } from '../../sensitive/secrets-in.ts'
import { entriesOf, pickNamed } from '../bundle/secrets.ts'
import { checkAllowed } from './limits.ts'
import type { ManifestService } from './parts.ts'
import { randomText } from './random-text.ts'
import { keyOf, type ManifestState, nameOf, type Owner, type Ref, readManifestState } from './refs.ts'
import { toActionError } from './refusal.ts'

/** What an action is about. */
export interface Subject {
  readonly ctx: ActionContext
  readonly action: BundleAction | 'observe'
  readonly parameters: JsonObject
  readonly binding?: { readonly info: BindingInfo; readonly parameters: JsonObject }
  /** The instance's. */
  readonly state: JsonObject
  /** Of the resource that the action is about, as it is now. */
  readonly own: () => JsonObject
}

/** A rendered object, and where it goes. */
export interface Placed {
  readonly given: CompiledObject
  readonly kind: Kind
  readonly body: JsonObject
  readonly namespace: string | undefined
  readonly object: string
  readonly shared: string | undefined
  /** Of what is put back of a binding: exactly this is applied. */
  readonly applied?: JsonObject
}

/** One run of one action, with everything that it needs to know. */
export type Running = Awaited<ReturnType<typeof openRunning>>

export async function openRunning(service: ManifestService, subject: Subject) {
  const { parts, revision, sensitive } = service
  const { ctx, binding } = subject
  const compiled: CompiledManifests = await service.compiled()
  const given = await parts.secretsFor(revision.fullName)
  const secrets = entriesOf(given)
  const generated = await generate(compiled, subject)
  const ofInstance = readManifestState(subject.state)
  const context = { ...ctx.instance.context, ...binding?.info.context }
  const objects: Record<string, Json> = {}
  const hidden: string[] = [
    ...[secrets, generated, ofInstance.generated].flatMap(secretsIn),
    ...secretsIn(pickNamed(subject.parameters, sensitive.parameters)),
    ...secretsIn(pickNamed(binding?.parameters ?? {}, sensitive.bindParameters)),
  ]
  const redact = (text: string) => parts.createRedactor([...hidden])(text)
  const owner: Owner = {
    ...{ broker: await parts.brokerId(), service: revision.serviceId },
    ...{ instance: ctx.instance.id, binding: binding?.info.id },
  }
  const { open } = parts
  let opened: OpenCluster | undefined
  /** Which template writes which object. */
  const writers = new Map<string, string>()

  const values = (): JsonObject => ({
    action: subject.action,
    instance: { id: ctx.instance.id },
    binding: binding === undefined ? {} : { id: binding.info.id, appGuid: binding.info.appGuid ?? '' },
    service: { id: revision.serviceId, name: revision.fullName },
    plan: { id: ctx.plan.id, name: ctx.plan.name, metadata: ctx.plan.metadata ?? {} },
    parameters: subject.parameters,
    bindParameters: binding?.parameters ?? {},
    context,
    state: ofInstance.values,
    generated: { ...ofInstance.generated, ...generated },
    values: compiled.values,
    secrets,
    objects,
  })

  /** Asks the cluster; what it refuses is told in words that platforms show. */
  async function ask<T>(what: string, question: (cluster: OpenCluster) => Promise<T>): Promise<T> {
    try {
      opened ??= await open()
      return await question(opened)
    } catch (error) {
      throw toActionError(error, what, redact)
    }
  }

  async function kindOf(target: Pick<Ref, 'apiVersion' | 'kind'>): Promise<Kind> {
    const kind = await ask(target.kind, ({ findKind }) => findKind(target, ctx.signal))
    if (kind !== undefined) return kind
    throw new TerminalError(
      `The cluster does not know the kind ${target.apiVersion}/${target.kind}: an operator has to install what brings it.`,
    )
  }

  function compute<T>(what: string, work: () => T): T {
    try {
      return work()
    } catch (error) {
      if (!(error instanceof ExpressionError)) throw error
      throw new TerminalError(`${what} cannot be made of these values: ${redact(error.message)}.`, { cause: error })
    }
  }

  async function place(one: CompiledObject): Promise<Placed> {
    const kind = await kindOf(one)
    const body = compute(one.name, () => one.template.render(values()))
    const metadata = isJsonObject(body) && isJsonObject(body.metadata) ? body.metadata : {}
    const usual = kind.namespaced ? compute(one.name, usualNamespace) : ''
    const namespace = kind.namespaced ? text(metadata.namespace) || usual : undefined
    const object = text(metadata.name)
    if (kind.namespaced && namespace === '')
      throw new TerminalError(
        `${one.kind} ${object}: no namespace is named, neither in the template nor by the platform.`,
      )
    if (object === '' && one.labels === undefined)
      throw new TerminalError(`The object "${one.name}" has no metadata.name: its template has to give it one.`)
    // Nothing is noted of what cannot have that name.
    await ask(nameOf({ kind: one.kind, object }), async () => kind.path(namespace, object))
    checkAllowed(parts.limits, { kind, namespace, name: object, ofContext: text(context.namespace) || undefined })
    const shared = one.shared === undefined ? undefined : compute(one.name, () => String(one.shared?.render(values())))
    if (one.mode !== 'read') checkWriter(one, { namespace, object, shared })
    return { given: one, kind, body: body as JsonObject, namespace, object, shared }
  }

  /** What was made before, where it was made. */
  async function placeAgain(given: CompiledObject, ref: Ref & { readonly body: JsonObject }): Promise<Placed> {
    const kind = await kindOf(ref)
    const { namespace, object, shared, body } = ref
    checkAllowed(parts.limits, { kind, namespace, name: object, ofContext: text(context.namespace) || undefined })
    return { given, kind, body, namespace, object, shared, applied: body }
  }

  /** The templates of an instance share one field manager: what one of them wrote would be taken back by the next one. */
  function checkWriter(
    { name, apiVersion, kind }: CompiledObject,
    place: Pick<Ref, 'namespace' | 'object' | 'shared'>,
  ): void {
    const key = keyOf({ apiVersion, kind, ...place })
    const first = writers.get(key) ?? name
    writers.set(key, first)
    if (first === name) return
    const what = nameOf({ kind, object: place.object })
    throw new TerminalError(`${what} is written by two templates, "${first}" and "${name}": write it in one of them.`)
  }

  function usualNamespace(): string {
    return text(compiled.namespace.render(values()))
  }

  return {
    service,
    parts,
    ctx,
    compiled,
    owner,
    redact,
    values,
    ask,
    kindOf,
    compute,
    place,
    placeAgain,
    /** The instance's, as the ledger has it. */
    ownState: () => subject.state,
    get state(): ManifestState {
      return readManifestState(subject.own())
    },
    ofInstance,
    generated,
    /** Makes an object known to the expressions of those that follow. */
    remember(name: string, live: KubernetesObject): void {
      objects[name] = live as unknown as Json
      if (live.kind === 'Secret') hidden.push(...secretsOf(live))
    },
    isWanted(one: CompiledObject): boolean {
      return one.when === undefined || compute(one.name, () => one.when?.evaluate(values())) === true
    },
    async find(kind: Kind, namespace: string | undefined, object: string): Promise<KubernetesObject | undefined> {
      const found = await ask(`${kind.kind} ${object}`, ({ cluster }) =>
        cluster.find<KubernetesObject>(kind.path(namespace, object), { signal: ctx.signal }),
      )
      return found
    },
    /** The first of those that have the labels, by name. */
    async findLabelled({ given, kind, namespace }: Placed): Promise<KubernetesObject | undefined> {
      const labels = compute(given.name, () => given.labels?.render(values()))
      const selector = Object.entries(isJsonObject(labels) ? labels : {}).map(([key, value]) => `${key}=${value}`)
      const { items } = await ask(kind.kind, ({ cluster }) =>
        listAll<KubernetesObject>(cluster, kind.path(namespace), { labels: selector.join(','), signal: ctx.signal }),
      )
      const [first] = items.toSorted((a, b) => ((a.metadata.name ?? '') < (b.metadata.name ?? '') ? -1 : 1))
      return first && { ...first, kind: kind.kind }
    },
  }
}

function text(value: Json | undefined): string {
  return typeof value === 'string' ? value : ''
}

/** Kept with the first run that needs them: they are the same ever after. */
async function generate({ generate }: CompiledManifests, { ctx, action, own }: Subject): Promise<JsonObject> {
  const before = readManifestState(own()).generated
  if (action !== 'provision' && action !== 'bind') return before
  const missing = Object.entries(generate).filter(([name]) => before[name] === undefined)
  if (missing.length === 0) return before
  const made = { ...before, ...Object.fromEntries(missing.map(([name, length]) => [name, randomText(length)])) }
  await ctx.saveState({ generated: made })
  return made
}

/** The entries of a Secret, as they are meant. */
function secretsOf(live: KubernetesObject): readonly string[] {
  const { data } = live as { readonly data?: Readonly<Record<string, string>> }
  return Object.values(data ?? {}).flatMap(value => [value, Buffer.from(value, 'base64').toString('utf8')])
}
