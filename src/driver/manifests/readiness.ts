import type { CompiledObject } from '../../bundle/manifest-templates.ts'
import { ExpressionError } from '../../expression/expression.ts'
import { isJsonObject, type Json, type JsonObject } from '../../protocol/json.ts'

export type Readiness =
  | { readonly kind: 'ready' }
  /** `text` is for people. */
  | { readonly kind: 'waiting'; readonly text?: string }
  | { readonly kind: 'failed'; readonly text?: string }

/** How far an object is. What its expressions cannot find is not there yet. */
export function judgeReadiness(given: CompiledObject, live: JsonObject, values: JsonObject): Readiness {
  const known = { ...values, object: live }
  const isTrue = (expression: NonNullable<CompiledObject['failedWhen']>) => {
    try {
      return expression.evaluate(known) === true
    } catch (error) {
      if (error instanceof ExpressionError) return false
      throw error
    }
  }
  const text = progressOf(given, known) ?? conditionText(given, live)
  if (given.failedWhen !== undefined && isTrue(given.failedWhen)) return { kind: 'failed', text }
  const isReady = given.readyWhen.every(one => ('condition' in one ? hasCondition(live, one) : isTrue(one)))
  return isReady ? { kind: 'ready' } : { kind: 'waiting', text }
}

function progressOf({ progress }: CompiledObject, values: JsonObject): string | undefined {
  if (progress === undefined) return undefined
  try {
    return String(progress.render(values))
  } catch (error) {
    if (error instanceof ExpressionError) return undefined
    throw error
  }
}

/** One that was written before the object was changed says nothing about it. */
function hasCondition(
  live: JsonObject,
  { condition, status }: { readonly condition: string; readonly status: string },
): boolean {
  const found = conditionsOf(live).find(({ type }) => type === condition)
  if (found === undefined || String(found.status) !== status) return false
  const metadata = isJsonObject(live.metadata) ? live.metadata : {}
  const own = isJsonObject(live.status) ? live.status : {}
  const seen = found.observedGeneration ?? own.observedGeneration
  return seen === undefined || metadata.generation === undefined || Number(seen) >= Number(metadata.generation)
}

/** Why it is not ready, as whoever looks after the object says it. */
function conditionText({ readyWhen }: CompiledObject, live: JsonObject): string | undefined {
  const wanted = readyWhen.flatMap(one => ('condition' in one ? one.condition : []))
  const said = conditionsOf(live).filter(({ type, status }) =>
    wanted.length > 0 ? wanted.includes(String(type)) : type === 'Ready' && status !== 'True',
  )
  const texts = said.flatMap(({ reason, message }) => [message, reason].filter(isText).slice(0, 1))
  return texts.length === 0 ? undefined : texts.join('; ')
}

function conditionsOf(live: JsonObject): readonly JsonObject[] {
  const { conditions } = isJsonObject(live.status) ? live.status : {}
  return Array.isArray(conditions) ? conditions.filter((one: Json) => isJsonObject(one)) : []
}

function isText(value: Json | undefined): value is string {
  return typeof value === 'string' && value !== ''
}
