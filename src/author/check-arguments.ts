import { limits } from '../domain/limits.ts'
import { TerminalError } from '../engine/errors.ts'
import { className, isFieldless } from '../engine/to-json.ts'
import { isJsonObject, type JsonObject } from '../protocol/json.ts'
import { inCode, typeName } from '../shape/mistake.ts'

/** The text of `ctx.describe` and `ctx.wait`. */
export function checkDescription(text: unknown, caller: string): string {
  if (typeof text !== 'string')
    throw new TerminalError(`${caller} needs a text as its description, not ${inCode(typeName(text))}.`)
  if (text.length > limits.descriptionLength)
    throw new TerminalError(
      `${caller} got a description of ${text.length} characters, and at most ${limits.descriptionLength} are allowed.`,
    )
  return text
}

const nouns = { 'ctx.step': 'name', 'ctx.share': 'key', 'ctx.unshare': 'key' } as const

/** The name of a step, or the key of something shared. */
export function checkName(name: unknown, caller: keyof typeof nouns): string {
  const noun = nouns[caller]
  if (typeof name !== 'string' || name === '')
    throw new TerminalError(`${caller} needs a ${noun} as its first argument.`)
  if (name.length > limits.stepNameLength)
    throw new TerminalError(
      `The ${noun} "${name.slice(0, 40)}…" of ${caller} has ${name.length} characters, and at most ${limits.stepNameLength} are allowed.`,
    )
  return name
}

export function checkFunction(value: unknown, caller: string): void {
  if (typeof value !== 'function')
    throw new TerminalError(`${caller} needs a function, not ${inCode(typeName(value))}.`)
}

/** What `ctx.saveState` merges into the state. */
export function checkPatch(patch: unknown): JsonObject {
  if (isJsonObject(patch) && !isFieldless(patch)) return patch
  const found = isFieldless(patch) ? className(patch) : inCode(typeName(patch))
  throw new TerminalError(`ctx.saveState needs an object, not ${found}.`)
}
