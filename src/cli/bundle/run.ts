import { join, resolve } from 'node:path'
import { hideParameters } from '../../bundle/hide-parameters.ts'
import { toOffering } from '../../bundle/to-offering.ts'
import { mergePatch } from '../../domain/merge-patch.ts'
import { isJsonObject, type JsonObject } from '../../protocol/json.ts'
import type { DevEnd } from '../../running/bundles/dev/perform.ts'
import { type DevBundle, type DevSettings, runDevAction, runFileName } from '../../running/bundles/dev/run.ts'
import { readSecretFile } from '../../running/bundles/secrets.ts'
import { failure } from '../cli-error.ts'
import { type CliIo, interruptible } from '../io.ts'
import { type ParameterOptions, readNamedFile, readParameters } from '../parameters.ts'
import { renderResult } from '../render/fields.ts'
import { toLine, toLines } from '../render/printable.ts'
import { chooseTask, type RunTask, type Wanted } from './choose-task.ts'
import { openRunFile, type RunFile } from './run-file.ts'
import { readUsableSpec } from './spec-file.ts'
import { concludeTest, renderTestResults } from './test-results.ts'

export interface RunOptions extends ParameterOptions, Pick<Wanted, 'action' | 'plan' | 'instance' | 'binding'> {
  readonly folder: string
  readonly secrets?: string
  readonly image?: string
  readonly network?: boolean
  readonly timeout?: number
  readonly stateFile?: string
  readonly showCredentials?: boolean
  readonly output: 'json' | 'text'
}

/** Runs one action as a broker would, and keeps its results for the next one. */
export async function runBundle(io: CliIo, options: RunOptions): Promise<void> {
  const { stateFile, network = false, timeout = 3_600_000 } = options
  const secretFile = options.secrets === undefined ? undefined : resolve(io.cwd, options.secrets)
  const secrets = secretFile === undefined ? {} : await readNamedFile('--secrets', () => readSecretFile(secretFile))
  const bundle = await loadBundle(io, options, secrets)
  const file = await openRunFile(resolve(io.cwd, stateFile ?? join(bundle.folder, runFileName)))
  const input = await readParameters(options, io.cwd)
  const task = await chooseTask(bundle.offering, file, { ...options, ...input })
  const settings = { network, timeout, secrets, env: io.env }
  const isTest = options.action === 'test'
  // A test makes no instance known: what it makes, it removes itself.
  if (!isTest) await file.change(options.instance, task.before)
  const { result, testResults } = await perform(io, bundle, settings, task)
  const { instance, output } = options
  if (isTest) return concludeTest(io, { instance, plan: task.driven.plan.name, output }, testResults)
  await keep(file, options, task, result)
  print(io, options, task, result)
}

type Result = Awaited<ReturnType<typeof runDevAction>>

interface Performed extends Pick<DevEnd, 'testResults'> {
  readonly result: Result
}

function perform(io: CliIo, bundle: DevBundle, settings: DevSettings, { driven }: RunTask): Promise<Performed> {
  const { action } = driven
  const tell = (text: string) => void io.stderr.write(`${action}: ${text}\n`)
  const stopped = { what: `${action} was stopped`, why: 'interrupted', next: 'Look for what it may have left behind.' }
  return interruptible(io, stopped, async signal => {
    let last: string | undefined
    const onProgress = (text: string) => {
      if (text !== last) tell(toLine(text))
      last = text
    }
    let testResults: DevEnd['testResults'] = []
    const onEnd = ({ log, verdict, testResults: found }: DevEnd) => {
      testResults = found
      io.stderr.write(toLines(log))
      if (verdict === 'not-implemented') tell('the bundle does not implement it (exit code 8)')
    }
    try {
      const result = await runDevAction(bundle, settings, { ...driven, clock: io.clock, signal, onProgress, onEnd })
      return { result, testResults }
    } catch (thrown) {
      // It may pass, which nobody waits for here.
      const error = thrown instanceof Error && thrown.name === 'PassingError' ? thrown.cause : thrown
      if (!(error instanceof Error) || !expected.has(error.name)) throw error
      io.stderr.write(renderTestResults(testResults))
      const parts = { what: `${action} failed`, why: explain(error), next: adviseAfter(error, action) }
      throw failure(parts, testResults.length === 0 ? undefined : { results: testResults })
    }
  })
}

const ofCluster = ['ClusterSettingsError', 'ClusterUnavailableError']
/** Errors of the bundle, of a program that cannot be run, and of a runtime or a cluster that does not answer, by name. */
const expected = new Set([
  ...['TerminalError', 'SandboxRefusedError', 'RuntimeUnavailableError', 'RegistryError'],
  ...ofCluster,
])

/** With what a platform would not read: whoever runs this command may know it. */
function explain(error: Error): string {
  let root = error
  while (root.cause instanceof Error) root = root.cause
  return error.message.includes(root.message) ? error.message : `${error.message} (${root.message})`
}

function adviseAfter(error: Error, action: string): string {
  if (error.name === 'RuntimeUnavailableError') return 'Start the container engine; DOCKER_HOST may name its socket.'
  if (ofCluster.includes(error.name)) return 'Name a cluster that answers in KUBECONFIG, and run it again.'
  if (/network/.test(error.message)) return 'Run it with --network.'
  if (error.name !== 'TerminalError') return 'Correct the bundle and run it again.'
  return action === 'provision'
    ? 'The log above says more. purser bundle run deprovision removes what is left.'
    : 'The log above says more. Correct the bundle and run it again.'
}

async function keep(file: RunFile, { action, binding }: RunOptions, { driven, before }: RunTask, result: Result) {
  const { id, parameters, context } = driven.instance
  if (action === 'deprovision') return file.change(id, undefined)
  if (action === 'provision' || action === 'update') {
    const state = result.state ?? before.state
    return file.change(id, { plan: driven.plan.name, parameters, context, state, bindings: before.bindings })
  }
  const state = mergePatch(before.state, result.instanceState ?? {})
  const { [binding]: _, ...others } = before.bindings
  const bound = { parameters: driven.binding?.parameters ?? {}, state: result.state ?? {} }
  return file.change(id, { ...before, state, bindings: action === 'bind' ? { ...others, [binding]: bound } : others })
}

function print(io: CliIo, options: RunOptions, { driven }: RunTask, result: Result): void {
  const { action, instance, showCredentials = false, output } = options
  const kept = isJsonObject(result.state) ? result.state : {}
  const credentials = action === 'bind' ? result.credentials : kept.credentials
  const namesOf = (value: unknown) => {
    const names = isJsonObject(value) ? Object.keys(value) : []
    if (names.length === 0) return undefined
    return output === 'json' ? names : names.join(', ')
  }
  const body = {
    action,
    instance,
    binding: driven.binding?.id,
    plan: driven.plan.name,
    dashboard_url: result.dashboardUrl,
    state: namesOf(kept.state),
    credentials: showCredentials && isJsonObject(credentials) ? credentials : namesOf(credentials),
  }
  io.stdout.write(renderResult(body, output))
}

async function loadBundle(io: CliIo, { folder, image }: RunOptions, secrets: JsonObject): Promise<DevBundle> {
  const { spec, text, folder: found } = await readUsableSpec(folder, io.cwd, 'a bundle is run from its folder')
  const offering = toOffering(hideParameters(spec, Object.keys(secrets)), { registry: 'local' })
  return { spec, offering, source: text, folder: found, image }
}
