/**
 * Whether what a platform was told can be explained by what the ledger says has happened: its history is played through the
 * model, and every answer must fit a state that is not earlier than the one which the answer before it was about.
 */
import {
  applyAccepted,
  applyEnd,
  createResource,
  type Expected,
  expectBind,
  expectDeprovision,
  expectProvision,
  expectUnbind,
  expectUpdate,
  type InstanceModel,
  isAbsent,
  type Resource,
} from '../model/model.ts'
import type { Asked, Polled, RequestAction } from './record.ts'

/** One line of the history of an instance: what the checker needs of it. */
export interface Happened {
  readonly type: string
  readonly action?: string
  readonly operationId?: string
  readonly bindingId?: string
}

type Event = Asked | Polled
type Wish = Pick<Asked, 'action' | 'binding'> & { readonly variant?: string | undefined }

/** Where an instance was between two lines of its history. */
interface Place {
  readonly state: InstanceModel
  /** The operation whose acceptance led here. */
  readonly accepted?: string
  readonly ended: ReadonlySet<string>
}

/** Answers the contradictions; after one of them it goes on as if it had not been said. */
export function findContradictions(events: readonly Event[], history: readonly Happened[]): readonly string[] {
  const places = placesOf(history, variantsOf(events))
  const problems = [...unasked(events, history), ...wronglyAccepted(places, history)]
  let at = 0
  for (const group of grouped(events)) {
    const ends = ordersOf(group).flatMap(order => follow(places, at, order) ?? [])
    if (ends.length === 0) problems.push(describe(group, places.slice(at)))
    else at = Math.min(...ends)
  }
  return problems
}

/** The first place that explains all of them, one after the other; undefined where there is none. */
function follow(places: readonly Place[], from: number, events: readonly Event[]): number | undefined {
  let at: number | undefined = from
  for (const event of events) if (at !== undefined) at = explain(places, at, event)
  return at
}

function explain(places: readonly Place[], from: number, event: Event): number | undefined {
  if (event.type === 'polled') {
    if (event.state === undefined) return from
    return findPlace(places, from, place => isPolledSo(place, event))
  }
  if (isNoAnswer(event.status)) return from
  const { operation } = event
  const begun = operation === undefined ? -1 : places.findIndex(({ accepted }) => accepted === operation)
  const before = places[begun - 1]
  if (before !== undefined && begun > from && expectations(before.state, event).includes('new')) return begun
  return findPlace(places, from, ({ state }) =>
    expectations(state, event).some(expected =>
      typeof expected === 'number'
        ? expected === event.status
        : expected === 'same' && event.status === 202 && pendingOf(state, event.binding) === operation,
    ),
  )
}

function findPlace(places: readonly Place[], from: number, fits: (place: Place) => boolean): number | undefined {
  const index = places.findIndex((place, at) => at >= from && fits(place))
  return index < 0 ? undefined : index
}

function isPolledSo({ state, ended }: Place, { operation, binding, state: said }: Polled): boolean {
  if (said === 'in progress') return pendingOf(state, binding) === operation
  return ended.has(operation)
}

/** What is not known: whether a creation still waits for a sweep, and what an operation asked for whose request had no answer. */
function expectations(instance: InstanceModel, asked: Wish): readonly Expected[] {
  const { action, binding, variant = '' } = asked
  const known = withVariant(instance, asked)
  const own = resourceOf(known, binding)
  const busy = [...known.bindings.values()].some(({ pending }) => pending !== undefined)
  const creates = own.pending?.action === 'provision' || own.pending?.action === 'bind'
  switch (action) {
    case 'provision':
      return [expectProvision(known, variant), expectProvision(instance, variant)]
    case 'update':
      return [expectUpdate(known, variant, busy), expectUpdate(instance, variant, busy)]
    case 'deprovision':
      return [expectDeprovision(known, busy, false), expectDeprovision(known, busy, creates)]
    case 'bind':
      return [expectBind(known, own, variant), expectBind(known, resourceOf(instance, binding), variant)]
    case 'unbind':
      return [expectUnbind(known, own, false), expectUnbind(known, own, creates)]
  }
}

/** What nobody knows may be what is asked for here. */
const unknown = '?'

function withVariant(instance: InstanceModel, { binding, variant = '' }: Wish): InstanceModel {
  const copy = clone(instance)
  const resource = resourceOf(copy, binding)
  if (resource.variant === unknown) resource.variant = variant
  if (resource.pending?.variant === unknown) resource.pending = { ...resource.pending, variant }
  return copy
}

/** Every place of the history. What ends and what takes over from it are one line, as they are one transaction. */
function placesOf(history: readonly Happened[], variants: ReadonlyMap<string, string>): readonly Place[] {
  let state: InstanceModel = { ...createResource(), bindings: new Map() }
  let ended: ReadonlySet<string> = new Set()
  const places: Place[] = [{ state, ended }]
  for (const [index, { type, action, operationId: operation = '', bindingId }] of history.entries()) {
    if (!isRequest(action)) continue
    state = clone(state)
    const resource = resourceOf(state, bindingId)
    if (type === 'accepted') {
      const creates = action !== 'deprovision' && action !== 'unbind'
      const variant = creates ? { variant: variants.get(operation) ?? unknown } : {}
      applyAccepted(resource, { operation, action, ...variant })
      places.push({ state, ended, accepted: operation })
    } else if (type === 'succeeded' || type === 'failed' || type === 'superseded') {
      ended = new Set([...ended, operation])
      // Whatever takes over from it is the next line; where nothing does, it was deleted before it had begun.
      if (type === 'superseded' && isDeletionOf(bindingId, history[index + 1])) continue
      if (type === 'superseded') Object.assign(resource, { pending: undefined }, createResource())
      else applyEnd(resource, type)
      // What was bound to it is gone with it.
      if (bindingId === undefined && isAbsent(state)) state.bindings.clear()
      places.push({ state, ended })
    }
  }
  return places
}

/** What each operation asked for, as far as its request was answered. */
function variantsOf(events: readonly Event[]): ReadonlyMap<string, string> {
  return new Map(
    events.flatMap(event =>
      event.type === 'asked' && event.operation !== undefined && event.variant !== undefined
        ? [[event.operation, event.variant] as const]
        : [],
    ),
  )
}

/** Operations that should have been refused where the instance was, by the history before them. */
function wronglyAccepted(places: readonly Place[], history: readonly Happened[]): readonly string[] {
  return history.flatMap(({ type, action, operationId, bindingId }) => {
    if (type !== 'accepted' || !isRequest(action)) return []
    const index = places.findIndex(({ accepted }) => accepted === operationId)
    const [before, after] = [places[index - 1]?.state, places[index]?.state]
    if (before === undefined || after === undefined) return []
    const { variant } = resourceOf(after, bindingId).pending ?? {}
    const asked = {
      action,
      binding: bindingId,
      variant: variant === unknown ? resourceOf(before, bindingId).variant : variant,
    }
    if (expectations(before, asked).includes('new')) return []
    return [`${action} ${operationId} was accepted, but by the ledger it was ${show(before)}`]
  })
}

/** Operations that no request can have led to. */
function unasked(events: readonly Event[], history: readonly Happened[]): readonly string[] {
  const asked = events.filter(event => event.type === 'asked')
  const answered = new Set(asked.map(({ operation }) => operation))
  const kind = (action: string | undefined, binding: string | undefined) => `${action} ${binding ?? ''}`
  const open = asked.filter(({ status }) => isNoAnswer(status)).map(({ action, binding }) => kind(action, binding))
  return history.flatMap(({ type, action, operationId, bindingId }) => {
    if (type !== 'accepted' || answered.has(operationId)) return []
    const index = open.indexOf(kind(action, bindingId))
    if (index < 0) return [`${action} ${operationId} was accepted, and nobody had asked for it`]
    open.splice(index, 1)
    return []
  })
}

/** The request may have been carried out, or not. */
function isNoAnswer(status: number | undefined): boolean {
  return status === undefined || status === 502 || status === 503 || status === 504
}

function isDeletionOf(bindingId: string | undefined, next: Happened | undefined): boolean {
  const deletes = next?.action === (bindingId === undefined ? 'deprovision' : 'unbind')
  return deletes && next.type === 'accepted' && next.bindingId === bindingId
}

function isRequest(action: string | undefined): action is RequestAction {
  return action !== undefined && action !== 'sweep' && action !== 'observe'
}

function pendingOf(instance: InstanceModel, binding: string | undefined): string | undefined {
  return (binding === undefined ? instance : instance.bindings.get(binding))?.pending?.operation
}

function resourceOf(instance: InstanceModel, binding: string | undefined): Resource {
  if (binding === undefined) return instance
  const found = instance.bindings.get(binding) ?? createResource()
  instance.bindings.set(binding, found)
  return found
}

function clone(state: InstanceModel): InstanceModel {
  const bindings = [...state.bindings].map(([id, binding]) => [id, { ...binding }] as const)
  return { ...state, bindings: new Map(bindings) }
}

/** Requests of one moment, in every order in which the broker may have taken them. */
function ordersOf<T>(group: readonly T[]): readonly (readonly T[])[] {
  if (group.length < 2) return [group]
  return group.flatMap((first, index) => ordersOf(group.toSpliced(index, 1)).map(rest => [first, ...rest]))
}

function grouped(events: readonly Event[]): readonly (readonly Event[])[] {
  const groups: Event[][] = []
  let last: number | undefined
  for (const event of events) {
    const group = event.type === 'asked' ? event.group : undefined
    if (group !== undefined && group === last) groups.at(-1)?.push(event)
    else groups.push([event])
    last = group
  }
  return groups
}

function describe(group: readonly Event[], places: readonly Place[]): string {
  const said = group.map(event => {
    const what = event.type === 'asked' ? `${event.action} ${event.variant ?? ''}` : 'poll'
    const told = event.status === undefined ? 'not answered' : `answered ${event.status} ${event.text ?? ''}`
    return `${what} ${event.binding ?? ''} ${event.operation ?? ''} was ${told}`.replaceAll('  ', ' ')
  })
  const was = places.slice(0, 3).map(({ state }) => show(state))
  return `${group[0]?.instance}: ${said.join(', ')}, but by the ledger it was ${was.join(', then ')}`
}

function show(state: InstanceModel): string {
  const one = ({ there, variant, pending }: Resource) =>
    pending === undefined ? `${there} ${variant}` : `${there} ${variant} in ${pending.action} ${pending.operation}`
  return [one(state), ...[...state.bindings].map(([id, binding]) => `${id} ${one(binding)}`)].join(', ')
}
