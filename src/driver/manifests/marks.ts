/**
 * What an object that is not one instance's own says of whom it is for, so that a watch knows who has to look at it. The name of a
 * field manager tells it too, but cannot be read backwards. Pure.
 */
import { createHash } from 'node:crypto'
import type { ObjectMode } from '../../bundle/manifests-shape.ts'
import type { Drifted } from '../../domain/decide-observe.ts'
import { hash } from '../../expression/functions.ts'
import type { Metadata } from '../../kubernetes/objects.ts'
import { isJsonObject, type Json } from '../../protocol/json.ts'
import { bindingAnnotation, brokerLabel, instanceAnnotation, managerOf, managerPrefix, type Owner } from './refs.ts'

/** One annotation for each that it is for, so that nobody overwrites a neighbour's. */
const forPrefix = 'for.purser.dev/'
/** The broker is in the key: two brokers may patch one object. */
const patchedPrefix = 'patched.purser.dev/'

type Marks = Required<Pick<Metadata, 'labels' | 'annotations'>>

export function marksOf(
  owner: Owner,
  { shared, mode }: { readonly shared?: string | undefined; readonly mode: ObjectMode },
): Marks {
  const { broker, instance, binding } = owner
  if (mode !== 'patch' && shared === undefined) return { labels: {}, annotations: {} }
  const whose = shared === undefined ? { instance, binding } : { claim: shared }
  const key = managerOf(owner, shared).slice(managerPrefix.length)
  return {
    labels: mode === 'patch' ? { [`${patchedPrefix}${hash(broker)}`]: 'true' } : {},
    annotations: { [`${forPrefix}${key}`]: JSON.stringify(whose) },
  }
}

/** As it would be if no version of a broker had ever marked it. */
export function withoutMarks({ labels, annotations, ...metadata }: Metadata): Metadata {
  const others = (given: Readonly<Record<string, string>> = {}, prefix: string) =>
    Object.fromEntries(Object.entries(given).filter(([key]) => !key.startsWith(prefix)))
  return { ...metadata, labels: others(labels, patchedPrefix), annotations: others(annotations, forPrefix) }
}

/** Selects what a broker has made, or what it has patched. */
export function selectorOf(broker: string, mode: ObjectMode): string {
  return mode === 'patch' ? `${patchedPrefix}${hash(broker)}` : `${brokerLabel}=${hash(broker)}`
}

export interface Watchable {
  readonly metadata: Metadata
  readonly status?: { readonly conditions?: readonly { readonly type?: string; readonly status?: string }[] }
}

/** Who has to look at an object when it looks different: each of those that it is for, by the name of their field manager. */
export type Looks = ReadonlyMap<string, { readonly whose: Drifted; readonly fingerprint: string }>

/**
 * What matters of an object to each of them: which fields are theirs (one that somebody else changes is not, any more) and its
 * conditions. A status that only counts on is no reason to look, and neither is what a neighbour has written.
 */
export function looksOf({ metadata, status }: Watchable, broker: string): Looks {
  const { managedFields = [], deletionTimestamp } = metadata
  const conditions = status?.conditions?.map(({ type, status: value }) => [type, value])
  const fingerprintOf = (manager: string) => {
    const fields = managedFields.filter(one => one.manager === manager).map(({ fieldsV1 }) => fieldsV1)
    return createHash('sha256')
      .update(JSON.stringify([fields, conditions, deletionTimestamp !== undefined]))
      .digest('base64')
  }
  return new Map(
    [...whoseOf(metadata, broker)].map(([manager, whose]) => [manager, { whose, fingerprint: fingerprintOf(manager) }]),
  )
}

/** Whom the change of an object concerns. One that nobody has seen before concerns nobody: it was made just now. */
export function concerned(before: Looks, after: Looks): readonly Drifted[] {
  return [...before].flatMap(([manager, { whose, fingerprint }]) =>
    after.get(manager)?.fingerprint === fingerprint ? [] : whose,
  )
}

function whoseOf({ annotations = {} }: Metadata, broker: string): ReadonlyMap<string, Drifted> {
  const found = new Map<string, Drifted>()
  const { [instanceAnnotation]: instanceId, [bindingAnnotation]: binding } = annotations
  if (instanceId !== undefined) found.set(managerOf({ broker, instance: instanceId, binding }), { instanceId })
  for (const [key, text] of Object.entries(annotations)) {
    if (!key.startsWith(forPrefix)) continue
    const { instance, binding, claim } = readMark(text)
    const manager = managerOf({ broker, instance: instance ?? '', binding }, claim)
    // Whatever it says, it is for whoever it is called after: another broker's, or what people have written, is not for us.
    if (manager !== `${managerPrefix}${key.slice(forPrefix.length)}`) continue
    if (claim !== undefined) found.set(manager, { claim })
    else if (instance !== undefined) found.set(manager, { instanceId: instance })
  }
  return found
}

function readMark(text: string): { readonly instance?: string; readonly binding?: string; readonly claim?: string } {
  try {
    const given: Json = JSON.parse(text)
    const { instance, binding, claim } = isJsonObject(given) ? given : {}
    return { instance: textOf(instance), binding: textOf(binding), claim: textOf(claim) }
  } catch {
    return {}
  }
}

function textOf(value: Json | undefined): string | undefined {
  return typeof value === 'string' ? value : undefined
}
