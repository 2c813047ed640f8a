/** What a platform does with one broker: each verb waits for its end and answers how that was. */
import type { AsyncCallOptions, OsbClient, OsbResponse, PolledAction } from '../../src/client/index.ts'
import { sleep, systemClock } from '../../src/clock.ts'

export interface Ids {
  readonly service_id: string
  readonly plan_id: string
}

/** `status` of the request; of a 202 also how its operation ended. */
export interface Ended {
  readonly status: number
  readonly state?: string
  readonly description?: string
  readonly operation?: string
  readonly text: string
}

export interface Life {
  provision(id: string, ids: Ids, parameters?: Readonly<Record<string, string>>): Promise<Ended>
  /** To the version that the catalog names. */
  upgrade(id: string, ids: Ids, version: string): Promise<Ended>
  deprovision(id: string, ids: Ids): Promise<Ended>
  bind(id: string, bindingId: string, ids: Ids): Promise<Ended>
  unbind(id: string, bindingId: string, ids: Ids): Promise<Ended>
  credentials(id: string, bindingId: string): Promise<unknown>
  /** Every text that the broker has answered with. */
  readonly answers: readonly string[]
}

type Answer = Promise<
  OsbResponse<{ readonly operation?: string | null; readonly description?: string; readonly credentials?: unknown }>
>

const place = { organization_guid: 'o', space_guid: 's' }
const incomplete: AsyncCallOptions = { acceptsIncomplete: true }

export function createLife(client: OsbClient): Life {
  const answers: string[] = []
  async function end(
    action: PolledAction,
    asked: Answer,
    poll: (operation: string) => ReturnType<OsbClient['lastOperation']>,
  ): Promise<Ended> {
    const { status, body, text } = await asked
    answers.push(text)
    const said = body.description === undefined ? {} : { description: body.description }
    if (status !== 202) return { status, text, ...said }
    const operation = body.operation ?? ''
    for (;;) {
      const polled = await poll(operation)
      answers.push(polled.text)
      if (polled.status !== 200) throw new Error(`the poll of a ${action} was answered ${polled.status} ${polled.text}`)
      const { state, description } = polled.body
      if (state !== 'in progress')
        return {
          status,
          operation,
          text: polled.text,
          state,
          description,
        }
      // Between two looks at what works on its own time; nothing depends on how long it is.
      await sleep(systemClock, 50)
    }
  }
  const ofInstance = (id: string) => (operation: string) => client.lastOperation(id, { operation })
  const ofBinding = (id: string, bindingId: string) => (operation: string) =>
    client.lastBindingOperation(id, bindingId, { operation })
  return {
    answers,
    provision: (id, ids, parameters) =>
      end(
        'provision',
        client.provision(id, { ...ids, ...place, ...(parameters && { parameters }) }, incomplete),
        ofInstance(id),
      ),
    upgrade: (id, ids, version) =>
      end(
        'update',
        client.update(id, { service_id: ids.service_id, maintenance_info: { version } }, incomplete),
        ofInstance(id),
      ),
    deprovision: (id, ids) => end('deprovision', client.deprovision(id, ids, incomplete), ofInstance(id)),
    bind: (id, bindingId, ids) => end('bind', client.bind(id, bindingId, ids, incomplete), ofBinding(id, bindingId)),
    unbind: (id, bindingId, ids) =>
      end('unbind', client.unbind(id, bindingId, ids, incomplete), ofBinding(id, bindingId)),
    async credentials(id, bindingId) {
      return (await client.fetchBinding(id, bindingId)).body.credentials
    },
  }
}
