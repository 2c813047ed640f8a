import { BrokerError } from '../../protocol/errors.ts'
import { text, wholeNumber } from '../../shape/fields.ts'
import { object, optional } from '../../shape/shape.ts'
import { json } from '../respond.ts'
import type { ListedSession, Sessions } from '../sessions.ts'
import type { AdminContext, AdminEndpoint, AdminRequest } from './admin-app.ts'
import { answerList, readQuery } from './lists.ts'

export const sessionsQuery = object({ limit: optional(wholeNumber(1, 200)), cursor: optional(text()) })
export const ofPrincipal = object({ principal: text() })

/** GET /admin/sessions: who is signed in to the console. */
export const listSessionsEndpoint: AdminEndpoint = ({ sessions }, { query }) =>
  answerList(sessionsQuery, query, async ({ limit = 50, cursor }) => {
    const items = await sessions.list({ after: cursor, limit })
    return { items, next: items.length < limit ? undefined : items.at(-1)?.id }
  })

/** DELETE /admin/sessions/:id: that browser has to sign in again. */
export const endSessionEndpoint: AdminEndpoint = async (context, request) => {
  const of = await context.sessions.end(request.id, request.acting)
  if (of === undefined)
    throw new BrokerError('UnknownSession', 'There is no such session. GET /admin/sessions lists those there are.')
  tell(context, request, request.id, of)
  return json(200, { ended: 1 })
}

/** DELETE /admin/sessions?principal=…: all of somebody. */
export const endSessionsEndpoint: AdminEndpoint = async (context, request) => {
  const { principal } = readQuery(ofPrincipal, request.query)
  let ended = 0
  for await (const { id, principal: of } of allOf(context.sessions)) {
    if (of !== principal || (await context.sessions.end(id, request.acting)) === undefined) continue
    tell(context, request, id, of)
    ended += 1
  }
  return json(200, { ended })
}

async function* allOf(sessions: Sessions): AsyncGenerator<ListedSession> {
  let after: string | undefined
  do {
    const page = await sessions.list({ after, limit: 200 })
    yield* page
    after = page.at(-1)?.id
  } while (after !== undefined)
}

function tell({ broker }: AdminContext, { acting }: AdminRequest, session: string, of: string): void {
  broker.observer['session.ended']?.({ session, of, principal: acting.by, requestId: acting.requestId })
}
