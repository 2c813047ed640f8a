import { ids, incomplete, type Process, type World } from './world.ts'

export const numbers = (count: number, from = 1) => Array.from({ length: count }, (_, index) => `i${from + index}`)

export interface Answered {
  readonly id: string
  readonly status: number
  readonly retryAfter?: string
  readonly body: { readonly operation?: string; readonly error?: string; readonly description?: string }
}

/** All at once; time passes while one of them is kept waiting. */
export async function putAll(world: World, process: Process, wanted: readonly string[]): Promise<Answered[]> {
  const answers = Promise.all(
    wanted.map(async id => {
      const { status, body, headers } = await process.client.provision(id, ids, incomplete)
      return { id, status, body, retryAfter: headers['retry-after'] } as Answered
    }),
  )
  let waiting = true
  const settled = answers.finally(() => {
    waiting = false
  })
  while (waiting) await world.clock.advance(100)
  return settled
}

export const withStatus = (answers: readonly Answered[], status: number) =>
  answers.filter(answer => answer.status === status)
