import { signal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { get, signIns } from './api/client.ts'
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
export function useCatalog(): readonly Service[] | undefined {
  const turn = signIns.value
  useEffect(() => {
    get<{ services: readonly Service[] }>('admin/catalog').then(
      body => {
        services.value = body.services
      },
      () => {},
    )
  }, [turn])
  return services.value
}

export function serviceName(id: string): string {
  return services.value?.find(service => service.id === id)?.name ?? id
}

export function planName(serviceId: string, id: string): string {
  const service = services.value?.find(each => each.id === serviceId)
  return service?.plans.find(plan => plan.id === id)?.name ?? id
}
