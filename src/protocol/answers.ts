import { flag, json, oneOf, text } from '../shape/fields.ts'
import type { JsonObject } from '../shape/json.ts'
import { list, object, optional } from '../shape/shape.ts'
import { trim } from '../shape/wire.ts'
import { latestMinor } from './api-version.ts'

/**
 * The bodies of the broker's answers, each field once: its type and the version of the OSB API that brought it. Answers
 * are trimmed by it, and the client's types come from it.
 */

const operation = (since: number) => optional(text({ since }))

const failureFlags = {
  instanceUsable: optional(flag({ since: 16 })),
  updateRepeatable: optional(flag({ since: 16 })),
}

export const metadataFields = { labels: optional(json({ since: 16 })), attributes: optional(json({ since: 17 })) }
const instanceMetadata = optional(object(metadataFields, { since: 16 }))

export const volumeMount = object({
  driver: text(),
  containerDir: text(),
  mode: oneOf(['r', 'rw']),
  deviceType: oneOf(['shared']),
  device: object({ volumeId: text(), mountConfig: optional(json()) }),
})

const port = text({ rule: 'a text such as "443" or "9000-9010"', allows: /^\d{1,5}(-\d{1,5})?$/ })

export const endpoint = object({
  host: text(),
  ports: list(port, {
    rules: [ports => ports?.length === 0 && { error: 'the ports of an endpoint must not be empty' }],
  }),
  protocol: optional(oneOf(['tcp', 'udp', 'all'])),
})

/** What a bind gives, besides its operation. */
export const bindingFields = {
  credentials: optional(json()),
  syslogDrainUrl: optional(text()),
  routeServiceUrl: optional(text({ since: 8 })),
  volumeMounts: optional(list(volumeMount, { since: 10 })),
  endpoints: optional(list(endpoint, { since: 15 })),
  metadata: optional(
    object({ expiresAt: optional(text({ since: 16 })), renewBefore: optional(text({ since: 17 })) }, { since: 16 }),
  ),
}

export const answers = {
  provision: object({ dashboardUrl: optional(text()), operation: operation(9), metadata: instanceMetadata }),
  update: object({ dashboardUrl: optional(text({ since: 14 })), operation: operation(9), metadata: instanceMetadata }),
  bind: object({ ...bindingFields, operation: operation(14) }),
  fetchInstance: object({
    serviceId: optional(text()),
    planId: optional(text()),
    dashboardUrl: optional(text()),
    parameters: optional(json()),
    maintenanceInfo: optional(object({ version: text(), description: optional(text()) }, { since: 17 })),
    metadata: optional(object(metadataFields, { since: 17 })),
  }),
  fetchBinding: object({ ...bindingFields, parameters: optional(json()) }),
  lastOperation: object({
    state: optional(oneOf(['in progress', 'succeeded', 'failed'])),
    description: optional(text()),
    ...failureFlags,
  }),
  error: object({ error: optional(text()), description: optional(text()), ...failureFlags }),
}

export type AnswerKind = keyof typeof answers

/** The body without the fields that are newer than what the platform announced. The same object where all are known. */
export function trimBody(kind: AnswerKind, body: JsonObject, minor: number): JsonObject {
  return minor >= latestMinor ? body : trim(answers[kind], body, minor)
}
