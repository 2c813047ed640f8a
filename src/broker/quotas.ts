import type { PlatformUse, Quota } from '../domain/quota.ts'
import type { ReadSettings } from '../settings/settings.ts'
import type { BrokerContext } from './context.ts'

/** What the platform may have: what is set for it, and for all where nothing is. Undefined where that is no limit at all. */
export function quotaOf({ platforms, ...all }: ReadSettings['quotas'], platform: string): Quota | undefined {
  const own = platforms.find(each => each.platform === platform)
  const quota = {
    instances: own?.instances ?? all.instances,
    bindings: own?.bindings ?? all.bindings,
    operations: own?.operations ?? all.operations,
  }
  return Object.values(quota).every(limit => limit === undefined) ? undefined : quota
}

export interface PlatformQuota {
  readonly platform: string
  readonly use: PlatformUse
  readonly limit: Quota
}

/** Platforms that have something, or for which something is set; by name. */
export async function listQuotas({ store, settings }: BrokerContext): Promise<readonly PlatformQuota[]> {
  const named = settings.quotas.platforms.map(({ platform }) => platform)
  const names = [...new Set([...named, ...(await store.platforms())])].sort()
  return Promise.all(
    names.map(async platform => ({
      platform,
      use: await store.platformUse(platform),
      limit: quotaOf(settings.quotas, platform) ?? {},
    })),
  )
}
