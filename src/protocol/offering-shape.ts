import { flag, json, oneOf, semver, text, wholeNumber } from '../shape/fields.ts'
import { list, object, optional } from '../shape/shape.ts'

/**
 * OSB API "Catalog Management": each field once. From here come the types, the checks, the spellings of files, what
 * platforms read, what older ones do not get, the client's types and docs/reference/catalog.md. A new field is one line.
 */

/** The minor version that brought each word of `requires`. */
export const requiresSince = { syslog_drain: 0, route_forwarding: 8, volume_mount: 10 } as const

const name = (doc: string) => text({ doc, remedy: 'write it as text, in quotes' })
const id = name('required; never changes')
const description = name('required; what users read')

const method = object({ parameters: optional(json('the JSON Schema of the parameters, at most 64 KiB')) })

const schemas = object(
  {
    serviceInstance: optional(object({ create: optional(method), update: optional(method) })),
    serviceBinding: optional(object({ create: optional(method) })),
  },
  { since: 13, doc: 'of this plan alone; where absent, those of the service' },
)

const maintenanceInfo = object(
  {
    version: semver('required; a semantic version'),
    description: optional(name('what the maintenance does')),
  },
  { since: 15, doc: 'the version of what an instance is made of' },
)

export const planShape = object(
  {
    id,
    name: name('required; what users type, unique in its service'),
    description,
    metadata: optional(json('shown to users: `displayName`, `bullets`, `costs` …')),
    free: optional(flag({ since: 2, doc: 'absent means true' })),
    bindable: optional(flag({ since: 11, doc: 'absent means as the service says' })),
    bindingRotatable: optional(flag({ since: 17, doc: 'bindings can be rotated' })),
    planUpdateable: optional(flag({ since: 15, doc: 'absent means as the service says' })),
    schemas: optional(schemas),
    maximumPollingDuration: optional(
      wholeNumber(1, 2_147_483_647, { since: 15, doc: 'seconds that platforms poll; operations end before' }),
    ),
    maintenanceInfo: optional(maintenanceInfo),
  },
  { rule: 'a map', remedy: 'give it id, name and description' },
)

const dashboardClient = object(
  {
    id: name('required; unique among the services'),
    secret: text({ secret: true, doc: 'required', remedy: 'write it as text, in quotes' }),
    redirectUri: optional(name('Cloud Foundry refuses the catalog without it')),
  },
  { since: 3, doc: 'for single sign-on' },
)

export const offeringShape = object(
  {
    id,
    name: name('required; what users type, unique in the catalog'),
    description,
    bindable: flag('required; instances can be bound'),
    tags: optional(list(text(), { doc: 'for applications that look for a kind of service' })),
    requires: optional(
      list(oneOf(Object.keys(requiresSince) as (keyof typeof requiresSince)[]), {
        doc: 'permissions that bindings need',
      }),
    ),
    instancesRetrievable: optional(flag({ since: 14, doc: 'GET of instances; true unless you say otherwise' })),
    bindingsRetrievable: optional(
      flag({ since: 14, doc: 'GET of bindings; true for services with `bind`, unless you say otherwise' }),
    ),
    allowContextUpdates: optional(flag({ since: 15, doc: 'a change of the context alone runs `update`' })),
    metadata: optional(json('shown to users: `displayName`, `imageUrl` …')),
    dashboardClient: optional(dashboardClient),
    planUpdateable: optional(flag({ since: 4, doc: 'instances can change their plan' })),
    plans: list(planShape, {
      doc: 'required; at least one',
      remedy: 'give it at least one, with id, name and description',
      rules: [plans => plans?.length === 0 && { error: 'it has no plans' }],
    }),
  },
  { rule: 'a map', remedy: 'give it id, name, description, bindable and plans' },
)
