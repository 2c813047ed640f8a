import { type Answer, call } from './api/client.ts'
import { toPath } from './router.tsx'
import { me } from './session.tsx'

/** The broker as a platform uses it, for "Try it". */
export interface Accepted {
  readonly operation?: string
  readonly dashboard_url?: string
}

export interface Credentials {
  readonly credentials?: Readonly<Record<string, unknown>>
  readonly [more: string]: unknown
}

const own = () => {
  const identity = btoa(String.fromCharCode(...new TextEncoder().encode(JSON.stringify({ user: me.value?.name }))))
  return {
    'X-Broker-API-Version': '2.17',
    // The history says who it was.
    'X-Broker-API-Originating-Identity': `purser-console ${identity}`,
  }
}

function osb<Body>(method: string, path: string, body?: object): Promise<Answer<Body>> {
  return call<Body>(path, { method, body, headers: own() })
}

interface Target {
  readonly id: string
  readonly service_id: string
  readonly plan_id: string
}

const instances = (id: string) => toPath('v2', 'service_instances', id)
const bindings = (id: string, bindingId: string) => `${instances(id)}/${toPath('service_bindings', bindingId)}`
const idsOf = ({ service_id, plan_id }: Target) => ({ service_id, plan_id })
const queryOf = (target: Target) => new URLSearchParams({ ...idsOf(target), accepts_incomplete: 'true' })

/** Where this console stands for a platform of its own: it has no organizations and spaces. */
const place = { organization_guid: 'purser-console', space_guid: 'purser-console' }
const context = { platform: 'purser-console', ...place }

export function provision(target: Target, parameters: object) {
  const body = { ...idsOf(target), ...place, context, parameters }
  return osb<Accepted>('PUT', `${instances(target.id)}?accepts_incomplete=true`, body)
}

export function update(target: Target, changes: { readonly plan_id?: string; readonly parameters?: object }) {
  const body = { service_id: target.service_id, context, previous_values: { plan_id: target.plan_id }, ...changes }
  return osb<Accepted>('PATCH', `${instances(target.id)}?accepts_incomplete=true`, body)
}

export function deprovision(target: Target) {
  return osb<Accepted>('DELETE', `${instances(target.id)}?${queryOf(target)}`)
}

export function bind(target: Target, bindingId: string, parameters: object) {
  const body = { ...idsOf(target), context, parameters }
  return osb<Accepted & Credentials>('PUT', `${bindings(target.id, bindingId)}?accepts_incomplete=true`, body)
}

export function unbind(target: Target, bindingId: string) {
  return osb<Accepted>('DELETE', `${bindings(target.id, bindingId)}?${queryOf(target)}`)
}

/** Where a service keeps no bindings, credentials are in the answer to `bind` only. */
export function fetchBinding(target: Target, bindingId: string) {
  return osb<Credentials>('GET', bindings(target.id, bindingId))
}
