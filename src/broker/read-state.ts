import type { Service } from '../author/define-service.ts'
import { type Checked, checkValue, type ParameterSource } from '../catalog/parameters.ts'
import { isStandardSchema } from '../catalog/standard-schema.ts'
import { limits } from '../domain/limits.ts'
import { TerminalError } from '../engine/errors.ts'
import { toJson } from '../engine/to-json.ts'
import type { JsonObject } from '../protocol/json.ts'
import { readMarked } from '../sensitive/marked.ts'

/** Whose state it is: that of the instance, or that of a binding. */
type StateKind = 'state' | 'bindingState'

/** The state as an action sees it: with a schema, what that makes of it; without one, as it stands in the ledger now. */
export async function viewState(
  code: Service,
  kind: StateKind | undefined,
  { current, lenient }: { current(): JsonObject; readonly lenient: boolean },
) {
  if (kind === undefined || code[kind] === undefined) return { value: () => readMarked(current()), merge() {} }
  let value = await readState(code, kind, current(), lenient)
  return {
    value: () => value,
    merge(patch: JsonObject) {
      value = { ...value, ...patch }
    },
  }
}

/**
 * The state as the author's schema makes it of what is stored. What does not fit comes from an older release, and is
 * upgraded. A deletion has to go on with whatever there is: it is `lenient`.
 */
async function readState(code: Service, kind: StateKind, stored: JsonObject, lenient: boolean): Promise<JsonObject> {
  const name = kind === 'state' ? 'upgradeState' : 'upgradeBindingState'
  const { [kind]: schema, [name]: upgrade } = code
  try {
    const found = schema && (await checkStored(schema, stored, kind))
    if (found?.ok) return found.value
    if (upgrade === undefined)
      return await applySchema(code, kind, stored, { which: 'stored', remedy: `Give the service an ${name}.` })
    const what = `${name} of the service ${code.id} returned a wrong state`
    const kept = { what, path: kind, bytes: limits.stateBytes, sensitive: 'marked' } as const
    const made = toJson(await upgrade(readMarked(structuredClone(stored))), kept)
    return await applySchema(code, kind, made, { which: 'upgraded', remedy: `Correct ${name}.` })
  } catch (error) {
    if (lenient) return readMarked(stored)
    throw error
  }
}

/** What an action leaves in the ledger has to fit too: the next action would fail otherwise. */
export async function checkState(code: Service, kind: StateKind, state: JsonObject): Promise<void> {
  await applySchema(code, kind, state, { which: 'returned', remedy: 'Return what the schema describes.' })
}

/** What the schema makes of the state, or an error that says what is wrong with it. */
async function applySchema(
  code: Service,
  kind: StateKind,
  state: JsonObject,
  { which, remedy }: { readonly which: string; readonly remedy: string },
): Promise<JsonObject> {
  const schema = code[kind]
  const checked = schema === undefined ? { ok: true as const, value: state } : await checkStored(schema, state, kind)
  if (checked.ok) return checked.value
  const whose = kind === 'state' ? 'state' : 'state of the binding'
  const what = `The ${which} ${whose} does not fit the schema of the service ${code.name ?? code.id}`
  throw new TerminalError(`${what}: ${checked.problems.join('; ')}. ${remedy}`)
}

/** The schema of a library sees a `Sensitive` as its author does. Plain JSON Schema cannot: it sees what is kept of one, an object. */
async function checkStored(schema: ParameterSource, stored: JsonObject, kind: StateKind): Promise<Checked> {
  if (isStandardSchema(schema)) return checkValue(schema, readMarked(stored), kind)
  const checked = await checkValue(schema, stored, kind)
  return checked.ok ? { ok: true, value: readMarked(checked.value) } : checked
}
