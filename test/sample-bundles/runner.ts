/** Runs the actions of one bundle as the broker does, without one: what an action leaves, the next ones get. */
import type { ActionContext } from '../../src/author/context.ts'
import type { BundleAction } from '../../src/bundle/actions.ts'
import { checkBundle } from '../../src/bundle/check-bundle.ts'
import { type ActionFacts, toExtraVars, toInput } from '../../src/driver/bundle/facts.ts'
import { type BundleState, changeValues, readState, toStored } from '../../src/driver/bundle/state.ts'
import type { JsonObject } from '../../src/protocol/json.ts'
import { readHelpers } from '../../src/running/bundles/sandbox-inputs.ts'
import type { Runtime, SandboxOutputs, SandboxProgram } from '../../src/sandbox.ts'

export interface Ask {
  readonly instance: string
  readonly binding?: string
  readonly plan: string
  readonly parameters?: JsonObject
  readonly bindParameters?: JsonObject
}

export interface Ran {
  readonly code: number
  readonly outputs: SandboxOutputs
  readonly log: string
  readonly progress: string | undefined
}

export interface Runner {
  run(action: BundleAction, ask: Ask): Promise<Ran>
  /** The same, and throws with the log where the action did not succeed. */
  succeed(action: BundleAction, ask: Ask): Promise<JsonObject>
  state(id: string): Readonly<Record<string, string>>
}

let runs = 0

export async function createRunner(
  runtime: Runtime,
  { source, program, secrets }: { source: string; program: SandboxProgram; secrets: JsonObject },
): Promise<Runner> {
  const { bundle, problems } = await checkBundle(source, { where: 'bundle.yml', registry: 'test' })
  if (bundle === undefined || problems.length > 0) throw new Error(JSON.stringify(problems))
  const { offering } = bundle
  const kept = new Map<string, BundleState>()
  const stateOf = (id: string) => kept.get(id) ?? readState({})
  const helpers = await readHelpers()

  function factsOf(action: BundleAction, ask: Ask): ActionFacts {
    const plan = offering.plans.find(({ name }) => name === ask.plan)
    if (plan === undefined) throw new Error(`there is no plan ${ask.plan}`)
    const ctx = {
      action,
      instance: { id: ask.instance, context: { platform: 'test', namespace: 'team' } },
      plan: { id: plan.id, name: plan.name },
      operation: { id: `operation-${runs}`, attempt: 1, fence: 1, releases: 0 },
      identity: { user: { username: 'jane' } },
    } as unknown as ActionContext
    const revision = { serviceId: offering.id, fullName: offering.name, bundleVersion: '1.0.0', offering }
    const binding = ask.binding && {
      info: { id: ask.binding, bindResource: {}, context: {} },
      state: stateOf(bindingId(ask)),
      ...(action === 'bind' ? { parameters: ask.bindParameters ?? {} } : {}),
    }
    return {
      ctx,
      action,
      revision: revision as ActionFacts['revision'],
      state: stateOf(ask.instance),
      parameters: ask.parameters ?? {},
      ...(binding ? { binding } : {}),
      secrets,
    }
  }

  async function run(action: BundleAction, ask: Ask): Promise<Ran> {
    const name = `test-${process.pid}-${++runs}`
    const facts = factsOf(action, ask)
    const { state, binding } = facts
    await runtime.start({
      name,
      labels: {},
      program,
      inputs: {
        action,
        // As the ledger gives it: JSON.
        input: JSON.parse(JSON.stringify(toInput(facts))),
        extraVars: toExtraVars(facts),
        state: state.values,
        ...(binding && { bindingState: binding.state.values }),
        secrets: [{ name: 'server', entries: secrets }],
        helpers,
        env: {},
      },
      limits: { time: 600_000 },
      network: 'allowed',
    })
    try {
      const ended = await runtime.wait(name, new AbortController().signal)
      const { outputs, log } = await runtime.collect(name, [])
      if (ended.kind !== 'exited') throw new Error(`${action} is ${JSON.stringify(ended)}: ${log}`)
      const progress = await runtime.progress(name, [])
      if (ended.code === 0 && outputs.problems.length === 0) keep(action, ask, facts, outputs)
      return { code: ended.code, outputs, log, progress }
    } finally {
      await runtime.remove(name)
    }
  }

  function keep(action: BundleAction, ask: Ask, { state, binding }: ActionFacts, outputs: SandboxOutputs): void {
    const given = action === 'bind' ? state.credentials : (outputs.credentials ?? state.credentials)
    kept.set(ask.instance, readState(toStored(changeValues(state.values, outputs.state), given)))
    if (binding !== undefined)
      kept.set(
        bindingId(ask),
        readState(toStored(changeValues(binding.state.values, outputs.bindingState), outputs.credentials)),
      )
    if (action === 'deprovision') kept.delete(ask.instance)
    if (action === 'unbind') kept.delete(bindingId(ask))
  }

  return {
    run,
    async succeed(action, ask) {
      const { code, outputs, log } = await run(action, ask)
      if (code === 0 && outputs.problems.length === 0) return outputs.credentials ?? {}
      throw new Error(`${action} ended with ${code}: ${outputs.problems.join()} ${outputs.message ?? ''}\n${log}`)
    },
    state: id => stateOf(id).values,
  }
}

function bindingId({ instance, binding }: Ask): string {
  return `${instance}/${binding}`
}
