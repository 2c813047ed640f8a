import type { ObservedBinding } from '../author/context.ts'
import type { Run } from '../engine/run.ts'
import type { JsonObject } from '../protocol/json.ts'
import type { Reads } from '../reads.ts'
import { readMarked } from '../sensitive/marked.ts'
import { toBindingInfo } from './context.ts'
import { viewState } from './read-state.ts'
import type { ResolvedService } from './resolve-services.ts'
import { secretsOf } from './service-secrets.ts'

interface Observing {
  readonly run: Run
  readonly service: ResolvedService
  readonly store: Pick<Reads, 'bindings'>
}

/**
 * Those that are ready: one that is being made or deleted has an operation of its own, and one that has failed is nobody's promise.
 * An unbind that is accepted after this look takes over from the observation, and begins when that has stopped.
 */
export async function observedBindings({
  run,
  service,
  store,
}: Observing): Promise<readonly ObservedBinding<JsonObject>[]> {
  const bindings = await run.ask(store.bindings(run.claim.instance.id))
  return Promise.all(
    bindings
      .filter(({ phase }) => phase === 'ready')
      .map(async binding => {
        const { state, parameters } = binding
        run.hide.learn(secretsOf(service.sensitive, { parameters: [], binding }))
        const view = await viewState(service.code, 'bindingState', { current: () => state, lenient: true })
        return { binding: toBindingInfo(binding), parameters: readMarked(parameters), bindingState: view.value() }
      }),
  )
}
