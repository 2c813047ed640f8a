import type { Operation } from './operation.ts'

/** Services and platforms whose operations a worker does not take now, since they have all the places that they may have. */
export interface LeftOut {
  readonly services: readonly string[]
  readonly platforms: readonly string[]
}

/** What decides whether an operation is among them. */
export type Sharer = Pick<Operation, 'serviceId' | 'platform'>

export function isLeftOut({ serviceId, platform }: Sharer, leftOut: LeftOut | undefined): boolean {
  if (leftOut === undefined) return false
  return leftOut.services.includes(serviceId) || (platform !== undefined && leftOut.platforms.includes(platform))
}
