import { json, text } from '../shape/fields.ts'
import { object, optional } from '../shape/shape.ts'

/** The bodies of the platform's requests, each field once: what is parsed, and the types of the client. */

const shared = { context: optional(json()), parameters: optional(json()) }
/** T-45: without a version, or with an empty one, it says nothing. */
const maintenanceInfo = optional(object({ version: text() }))

export const requests = {
  provision: object({
    serviceId: text(),
    planId: text(),
    organizationGuid: optional(text()),
    spaceGuid: optional(text()),
    ...shared,
    maintenanceInfo,
  }),
  update: object({
    serviceId: text(),
    planId: optional(text()),
    ...shared,
    previousValues: optional(json()),
    maintenanceInfo,
  }),
  /** `serviceId` and `planId` are mandatory except in a rotation, which names its predecessor (ROT-05). */
  bind: object({
    serviceId: optional(text()),
    planId: optional(text()),
    ...shared,
    appGuid: optional(text()),
    bindResource: optional(json()),
    predecessorBindingId: optional(text()),
  }),
}
