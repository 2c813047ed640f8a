import type { Principal } from '../../authenticator.ts'
import type { Pushed } from '../../broker/registries/pushed.ts'
import { syncAndWait } from '../../broker/registries/sync-and-wait.ts'
import { toWireCatalog } from '../../catalog/wire-catalog.ts'
import { latestMinor } from '../../protocol/api-version.ts'
import { malformed, readOrRefuse } from '../../protocol/request-fields.ts'
import type { Exchange } from '../exchange.ts'
import type { HttpResponse } from '../message.ts'
import { guarded, json, methodNotAllowed } from '../respond.ts'
import { decodeSegment } from '../routes.ts'
import type { AdminContext } from './admin-app.ts'
import { refuseCrossSite } from './cross-site.ts'
import { checkRole } from './roles.ts'

/** What the routes of the Automation Broker's tools work with; absent where they are off. */
export interface ApbRoutes extends Pushed {
  /** How many bundles the registries listed in the latest sync of this process. */
  readonly listed: () => number
}

interface ApbContext extends AdminContext {
  readonly apb: ApbRoutes
}

interface ApbPath {
  readonly route: 'bootstrap' | 'apb'
  readonly id?: string
}

/** The tools put the path after the broker's route, which ends with one of these names. */
const pattern =
  /^(?:\/(?:osb|(?:openshift-)?(?:ansible|automation)-service-broker))?\/v2\/(?:(bootstrap)|apb(?:\/([^/]+))?)$/

export function parseApbPath(path: string): ApbPath | undefined {
  const found = pattern.exec(path)
  if (found === null) return undefined
  const [, bootstrap, id] = found
  return bootstrap === undefined ? { route: 'apb', id: id && decodeSegment(id) } : { route: 'bootstrap' }
}

/** They change what is offered and run for everybody: that is for operators. The tools announce no version of the OSB API. */
export async function handleApb(
  context: ApbContext,
  { route, id }: ApbPath,
  exchange: Exchange,
  principal: Principal,
): Promise<HttpResponse> {
  exchange.route = `/v2/${route}${id === undefined ? '' : '/:id'}`
  refuseCrossSite(exchange, context.publicUrl)
  checkRole(principal, 'operator')
  const { method } = exchange
  const { apb } = context
  if (route === 'bootstrap') {
    if (method !== 'POST') throw methodNotAllowed(['POST'])
    // From here on it only waits.
    exchange.visit?.leave(context.broker.clock.now())
    return bootstrap(context)
  }
  if (method === 'DELETE') {
    await apb.remove(id)
    return { status: 204, headers: guarded, body: '' }
  }
  if (id !== undefined || method !== 'POST') throw methodNotAllowed(id === undefined ? ['POST', 'DELETE'] : ['DELETE'])
  const offering = await apb.push(await readSpec(context, exchange))
  return json(200, toWireCatalog([offering], latestMinor))
}

/** POST /v2/bootstrap: with the counts of older releases; where it takes too long, with the words of the later ones. */
async function bootstrap({ broker, chores, apb }: ApbContext): Promise<HttpResponse> {
  if (!(await syncAndWait(broker, chores))) return json(200, { msg: 'Bootstrap job started' })
  const stored = await broker.store.catalog()
  const offered = stored?.services.filter(({ retiredAt }) => retiredAt === undefined) ?? []
  return json(200, { spec_count: offered.length, image_count: apb.listed() })
}

async function readSpec({ broker, bodyLimit }: AdminContext, { request, visit }: Exchange): Promise<string> {
  const since = broker.clock.now()
  const bytes = await request.body(bodyLimit)
  visit?.waited(broker.clock.now() - since)
  const form = readOrRefuse(() => new TextDecoder('utf-8', { fatal: true }).decode(bytes), 'the body is not UTF-8')
  const spec = new URLSearchParams(form).get('apbSpec')
  if (spec === null || spec === '') throw malformed('send a form with apbSpec, which is the spec in base64')
  // A plus sign that the client did not escape has become a space.
  return spec.replaceAll(' ', '+')
}
