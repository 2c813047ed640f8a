import { isJsonObject, type JsonObject, parseJson } from '../protocol/json.ts'
import type { SandboxOutputs, TestResult } from '../sandbox.ts'
import { createRedactor } from '../sensitive/redact.ts'
import { secretsIn } from '../sensitive/secrets-in.ts'
import { terminationLog } from './folders.ts'
import { isStateKey } from './inputs.ts'
import { inFolder, type ReadEnd, readFileEnd, readOutputFile } from './read-output-file.ts'

export const maxJson = 1024 * 1024
export const maxText = 4096

/**
 * What an action left in `$BUNDLE_OUTPUT`, which is a folder here, or can be read. Nothing in it can make this throw: what is
 * unusable is a problem.
 */
export async function collectOutputs(place: string | ReadEnd, secrets: readonly string[]): Promise<SandboxOutputs> {
  const readEnd = typeof place === 'string' ? inFolder(place) : place
  const redact = createRedactor(secrets)
  const problems: string[] = []

  async function read(name: string, maxBytes: number): Promise<string | undefined> {
    const { text, problem } = await readOutputFile(readEnd, name, maxBytes)
    if (problem !== undefined) problems.push(problem)
    return text
  }

  async function readObject(name: string): Promise<JsonObject | undefined> {
    const text = await read(name, maxJson)
    if (text === undefined) return undefined
    const value = parseJson(text)
    if (isJsonObject(value)) return value
    // The text may be credentials: no part of it is shown.
    problems.push(
      `${name} is not a JSON object, is nested too deep, or has a number above 1.7e308; write one such as {"user": "me"}`,
    )
    return undefined
  }

  async function readState(name: string): Promise<Readonly<Record<string, string | null>> | undefined> {
    const changes = await readObject(name)
    return changes && toState(name, changes, problems)
  }

  const credentials = await readObject('credentials.json')
  const dashboardUrl = (await read('dashboard_url', maxText))?.trim()
  const message = (await read('message', maxText))?.trim() || (await read(terminationLog, maxText))?.trim()
  const state = await readState('state.json')
  const bindingState = await readState('binding_state.json')
  const progress = await readProgress(readEnd, secrets)
  const tested = await read('test-result', maxJson)
  const testResults = tested === undefined ? undefined : toTestResults(redact(tested), problems)
  const badUrl = dashboardUrl !== undefined && dashboardUrl !== '' && !isWebAddress(dashboardUrl)
  if (badUrl) problems.push('dashboard_url is not an http or https address; write one, and nothing else, into it')
  return {
    credentials,
    dashboardUrl: badUrl ? undefined : dashboardUrl || undefined,
    message: message ? redact(message) : undefined,
    state,
    bindingState,
    progress,
    testResults,
    problems,
  }
}

/** The last whole line, without the secrets: one that is being written is not shown in parts. */
export async function readProgress(place: string | ReadEnd, secrets: readonly string[]): Promise<string | undefined> {
  const readEnd = typeof place === 'string' ? inFolder(place) : place
  const end = await readFileEnd(readEnd, 'progress', maxText)
  const lines = end?.text.split('\n') ?? []
  // The rest of a line that was cut may be the rest of a secret, which nobody could recognise.
  const whole = lines.slice(end?.cut ? 1 : 0, lines.length > 1 ? -1 : undefined)
  const last = whole.map(line => line.trim()).findLast(line => line !== '')
  return last === undefined ? undefined : createRedactor([...secrets, ...(await secretsMade(readEnd))])(last)
}

/** The action may have written them before it says how far it is. One that is still being written is not known yet. */
async function secretsMade(readEnd: ReadEnd): Promise<readonly string[]> {
  const files = ['credentials.json', 'state.json', 'binding_state.json']
  const texts = await Promise.all(files.map(name => readOutputFile(readEnd, name, maxJson)))
  return texts.flatMap(({ text }) => (text === undefined ? [] : secretsIn(parseJson(text))))
}

export function toState(
  name: string,
  changes: JsonObject,
  problems: string[],
): Readonly<Record<string, string | null>> {
  const state: [string, string | null][] = []
  for (const [key, value] of Object.entries(changes)) {
    if (!isStateKey(key))
      problems.push(`${name} has a key that cannot name a file; use letters, digits, dots, dashes and underscores`)
    else if (value !== undefined)
      state.push([key, value === null || typeof value === 'string' ? value : JSON.stringify(value)])
  }
  return Object.fromEntries(state)
}

/** `0` and a message, or `1` and a message, of what failed. Lines that begin otherwise go on with the message before them. */
function toTestResults(text: string, problems: string[]): readonly TestResult[] {
  const results: TestResult[] = []
  for (const line of text.split('\n').filter(line => line.trim() !== '')) {
    const [, sign, message = ''] = /^([01])(?:\s+(.*))?$/.exec(line.trimEnd()) ?? []
    const last = results.at(-1)
    if (sign !== undefined) results.push({ fail: sign === '1', message })
    else if (last !== undefined) results.splice(-1, 1, { ...last, message: `${last.message} ${line.trim()}`.trim() })
    else problems.push('test-result begins with neither 0 nor 1; write 0 and what is right, or 1 and what is wrong')
  }
  return results
}

export function isWebAddress(text: string): boolean {
  return URL.canParse(text) && ['http:', 'https:'].includes(new URL(text).protocol)
}
