import type { BindingData, FetchQuery } from '../client/index.ts'
import { refusal } from './refusal.ts'
import { renderFields, withoutNull } from './render/fields.ts'
import type { Session } from './session.ts'

/** GET binding: the only place where an asynchronous binding's credentials can be read. */
export async function readBinding({ client }: Session, instanceId: string, bindingId: string, query: FetchQuery) {
  const response = await client.fetchBinding(instanceId, bindingId, query)
  if (response.status !== 200) throw refusal(`could not read the credentials of binding ${bindingId}`, response)
  return toBindingData(response.body)
}

/** What an application gets, without the rest of the answer. */
export function toBindingData(body: BindingData): BindingData {
  const { credentials, syslog_drain_url, route_service_url, volume_mounts, endpoints, metadata } = body
  return withoutNull({ credentials, syslog_drain_url, route_service_url, volume_mounts, endpoints, metadata })
}

/** Credentials by their own names, the rest by the API's. */
export function renderBinding({ credentials, ...rest }: BindingData): string {
  return renderFields(credentials, withoutNull(rest)) || 'The binding has no credentials.\n'
}
