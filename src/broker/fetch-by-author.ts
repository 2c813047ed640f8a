import { toJson } from '../engine/to-json.ts'
import { toError } from '../observer.ts'
import { isJsonObject, type JsonObject } from '../protocol/json.ts'
import { markedIn } from '../sensitive/marked.ts'
import { createRedactor } from '../sensitive/redact.ts'
import { redactError } from '../sensitive/redact-error.ts'
import { inCode, typeName } from '../shape/mistake.ts'

interface Secrets {
  readonly secrets: () => readonly string[]
  /** What is kept of the instance or the binding, with what is marked in it. */
  readonly kept: unknown
}

/** What an author answers to a GET. What is thrown there tells nothing of these secrets. */
export async function fetchByAuthor(
  who: string,
  { secrets, kept }: Secrets,
  fetch: () => JsonObject | Promise<JsonObject>,
): Promise<JsonObject> {
  try {
    const body = await fetch()
    if (!isJsonObject(body)) throw new TypeError(`${who} must return an object, not ${inCode(typeName(body))}`)
    return toJson(body, { what: `${who} returned what cannot be sent`, path: 'body', bytes: Number.POSITIVE_INFINITY })
  } catch (thrown) {
    throw redactError(toError(thrown, who), createRedactor([...secrets(), ...markedIn(kept)]))
  }
}
