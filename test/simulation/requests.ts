import type { Verb, Wish } from './platform.ts'
import type { Random } from './random.ts'

export interface PlannedRequest extends Wish {
  readonly at: number
}

/** Each of them is a prefix of the URL. */
export const platforms = ['cf', 'k8s'] as const

/** Requests of several platforms over a few ids: most about one of them, and many in the middle of the one before. */
export function drawRequests(random: Random): readonly [PlannedRequest, ...PlannedRequest[]] {
  const count = random.between(8, 18)
  const requests: [PlannedRequest, ...PlannedRequest[]] = [{ ...drawWish(random, new Set()), at: 0 }]
  /** What the platforms believe to be there: else most requests would be about nothing. */
  const created = new Set(requests.map(({ instanceId }) => instanceId))
  let at = 0
  for (let index = 1; index < count; index += 1) {
    const before = requests.at(-1) ?? requests[0]
    const follows = random.chance(0.5)
    at += follows ? random.between(0, 6_000) : random.between(1_000, 18_000)
    const request = { ...(follows ? drawFollower(random, before) : drawWish(random, created)), at }
    if (request.verb === 'provision') created.add(request.instanceId)
    if (request.verb === 'deprovision') created.delete(request.instanceId)
    requests.push(request)
  }
  return requests
}

/** Creations that are deleted in the middle, one instance after the other. */
export function drawDuels(random: Random): readonly [PlannedRequest, ...PlannedRequest[]] {
  const requests = Array.from({ length: random.between(4, 8) }, (_, index) => {
    const wish = { platform: platforms[0], instanceId: `i${index + 1}`, variant: 'small', waits: false }
    const at = index * 4_000 + random.between(0, 3_000)
    return [
      { ...wish, verb: 'provision' as const, at },
      { ...wish, verb: 'deprovision' as const, at: at + random.between(200, 5_000) },
    ]
  }).flat()
  return requests as [PlannedRequest, ...PlannedRequest[]]
}

/** Instances that are bound, unbound and deprovisioned, each soon after the one before: unbinds in doubt are still swept. */
export function drawFarewells(random: Random): readonly [PlannedRequest, ...PlannedRequest[]] {
  const requests = Array.from({ length: random.between(2, 5) }, (_, index) => {
    const wish = { platform: platforms[0], instanceId: `i${index + 1}`, variant: 'small', waits: false }
    const [bind, unbind] = [random.between(6_000, 15_000), random.between(3_000, 8_000)]
    const at = index * 4_000 + random.between(0, 3_000)
    return [
      { ...wish, verb: 'provision' as const, at },
      { ...wish, verb: 'bind' as const, bindingId: 'b1', at: at + bind },
      { ...wish, verb: 'unbind' as const, bindingId: 'b1', at: at + bind + unbind },
      { ...wish, verb: 'deprovision' as const, at: at + bind + unbind + random.between(1_000, 20_000) },
    ]
  }).flat()
  return requests as [PlannedRequest, ...PlannedRequest[]]
}

/** Ids that are used again as soon as what they named is deleted, and again: deletions in doubt are still swept. */
export function drawReturns(random: Random): readonly [PlannedRequest, ...PlannedRequest[]] {
  const requests = Array.from({ length: random.between(2, 4) }, (_, index) => {
    const bound = random.chance(0.4) ? { bindingId: 'b1' } : {}
    const wish = { platform: platforms[0], instanceId: `i${index + 1}`, waits: false, ...bound }
    const [put, remove] = 'bindingId' in bound ? (['bind', 'unbind'] as const) : (['provision', 'deprovision'] as const)
    let at = index * 4_000 + random.between(0, 3_000)
    const first = { ...wish, bindingId: undefined, verb: 'provision' as const, variant: 'small', at }
    const rounds = Array.from({ length: random.between(2, 3) }, () => {
      at += random.between(4_000, 25_000)
      const putAt = at
      at += random.between(200, 9_000)
      return [
        { ...wish, verb: put, variant: drawVariant(random), at: putAt },
        { ...wish, verb: remove, variant: 'small', at },
      ]
    }).flat()
    const last = { ...wish, verb: put, variant: drawVariant(random), at: at + random.between(1_000, 25_000) }
    return [first, ...rounds, last]
  }).flat()
  return requests as unknown as [PlannedRequest, ...PlannedRequest[]]
}

/** The same again, or something that gets in its way. */
function drawFollower(random: Random, { bindingId, ...before }: Wish): Wish {
  const waits = random.chance(0.1)
  const onBinding = bindingId !== undefined && random.chance(0.8)
  if (random.chance(0.4)) return { ...before, bindingId, waits }
  if (onBinding) return { ...before, bindingId, waits, verb: random.pick(['bind', 'unbind']) }
  const verb: Verb = random.weighted({ deprovision: 5, update: 2, provision: 1 })
  return { ...before, waits, verb, variant: drawVariant(random) }
}

function drawWish(random: Random, created: ReadonlySet<string>): Wish {
  const number = random.pick([1, 1, 1, 2, 2, 3])
  const instanceId = `i${number}`
  const verb = random.weighted(
    created.has(instanceId)
      ? { provision: 1, update: 3, deprovision: 2, bind: 5, unbind: 2 }
      : { provision: 15, update: 1, deprovision: 1, bind: 1, unbind: 1 },
  )
  const isOwner = random.chance(0.95)
  return {
    verb,
    instanceId,
    platform: platforms[isOwner ? number % 2 : (number + 1) % 2] ?? platforms[0],
    ...(verb === 'bind' || verb === 'unbind' ? { bindingId: random.pick(['b1', 'b1', 'b2']) } : {}),
    variant: drawVariant(random),
    waits: random.chance(0.1),
  }
}

function drawVariant(random: Random): string {
  return random.chance(0.8) ? 'small' : 'large'
}
