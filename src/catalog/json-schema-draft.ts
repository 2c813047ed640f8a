import type { JsonObject } from '../protocol/json.ts'
import { booleanSubschemas, visitSchemas } from './json-schema-walk.ts'

export const drafts = ['draft-04', 'draft-06', 'draft-07', '2019-09', '2020-12'] as const
export type Draft = (typeof drafts)[number]

export const draftUri: Record<Draft, string> = {
  'draft-04': 'http://json-schema.org/draft-04/schema#',
  'draft-06': 'http://json-schema.org/draft-06/schema#',
  'draft-07': 'http://json-schema.org/draft-07/schema#',
  '2019-09': 'https://json-schema.org/draft/2019-09/schema',
  '2020-12': 'https://json-schema.org/draft/2020-12/schema',
}

/** The draft that `$schema` names, or `undefined` where it names none we know. */
export function draftOf(schema: JsonObject): Draft | undefined {
  const declared = schema.$schema
  if (declared === undefined) return guessDraft(schema)
  return typeof declared === 'string' ? drafts.find(draft => bare(draftUri[draft]) === bare(declared)) : undefined
}

/**
 * The schema with its `$schema`, which the OSB API demands (SCH-03). Where the author left it off it is draft-04, the
 * only one that every platform reads, unless the schema says something that draft-04 would silently ignore.
 */
export function withDraft(schema: JsonObject): JsonObject {
  const { $schema, ...rest } = schema
  return $schema === undefined ? { $schema: draftUri[guessDraft(schema)], ...rest } : schema
}

/** Keywords that constrain and that draft-04 does not know, by the draft that brought them. */
const until07 = ['const', 'contains', 'propertyNames', '$id', 'if'] as const
const of2019 = ['$defs', '$anchor', '$recursiveRef', 'minContains', 'maxContains', 'dependentRequired'] as const
const of2019Schemas = ['dependentSchemas', 'unevaluatedItems', 'unevaluatedProperties'] as const
const of2020 = ['prefixItems', '$dynamicRef'] as const
const newerKeywords = [...until07, ...of2019, ...of2019Schemas, ...of2020]

function guessDraft(schema: JsonObject): Draft {
  let newer = false
  let older = false
  visitSchemas(schema, part => {
    newer ||= newerKeywords.some(keyword => Object.hasOwn(part, keyword))
    newer ||= typeof part.exclusiveMinimum === 'number' || typeof part.exclusiveMaximum === 'number'
    newer ||= booleanSubschemas(part).some(
      keyword => keyword !== 'additionalProperties' && keyword !== 'additionalItems',
    )
    // Words that 2020-12 gave up: with them and newer ones together, draft-07 is the draft that means both.
    older ||= Array.isArray(part.items) || Object.hasOwn(part, 'dependencies')
  })
  if (!newer) return 'draft-04'
  return older ? 'draft-07' : '2020-12'
}

/** Authors write these addresses with http and https, with and without the `#`. */
function bare(uri: string): string {
  return uri.replace(/^https?:\/\//, '').replace(/#$/, '')
}
