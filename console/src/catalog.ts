import { signal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { type Resource, useResource } from './api/resource.ts'
import type { Schema } from './form/schema.ts'

export interface Plan {
  readonly id: string
  readonly name: string
  readonly description: string
  readonly free?: boolean
  readonly bindable?: boolean
  readonly maintenance_info?: { readonly version: string }
  readonly schemas?: {
    readonly service_instance?: {
      readonly create?: { readonly parameters?: Schema }
      readonly update?: { readonly parameters?: Schema }
    }
    readonly service_binding?: { readonly create?: { readonly parameters?: Schema } }
  }
}

export interface Service {
  readonly id: string
  readonly name: string
  readonly description: string
  readonly bindable: boolean
  readonly plan_updateable?: boolean
  readonly tags?: readonly string[]
  readonly metadata?: { readonly displayName?: string; readonly providerDisplayName?: string }
  readonly plans: readonly Plan[]
}

export const services = signal<readonly Service[] | undefined>(undefined)

/** Keeps the names of services and plans at hand, for pages that know their ids. */
export function useCatalog(): Resource<{ services: readonly Service[] }> {
  const catalog = useResource<{ services: readonly Service[] }>('admin/catalog')
  const offered = catalog.data?.services
  useEffect(() => {
    if (offered !== undefined) services.value = offered
  }, [offered])
  return catalog
}

export function serviceName(id: string): string {
  return services.value?.find(service => service.id === id)?.name ?? id
}

export function planName(serviceId: string, id: string): string {
  const service = services.value?.find(each => each.id === serviceId)
  return service?.plans.find(plan => plan.id === id)?.name ?? id
}

/** The filter of services offers those that there are. */
export function withServices<Filter extends { readonly name: string }>(filters: readonly Filter[]) {
  const ids = services.value?.map(({ id }) => id)
  return filters.map(filter => (filter.name === 'service_id' && ids ? { ...filter, options: ids } : filter))
}
