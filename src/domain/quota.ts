import { BrokerError } from '../protocol/errors.ts'
import type { Change, Snapshot } from './change.ts'
import type { Operation } from './operation.ts'

/** What a platform may have at a time; what is not given is not limited. */
export interface Quota {
  readonly instances?: number
  readonly bindings?: number
  readonly operations?: number
}

export type QuotaKind = keyof Quota

/** What a change may be written within: the limits of its platform, of what the change adds to. */
export interface Within extends Quota {
  readonly platform: string
}

/**
 * What a platform has. An instance or a binding counts from the moment it is accepted until its deletion has succeeded, failed
 * ones too, since something of them may be there. Operations are those that platforms have asked for and that have not ended.
 */
export interface PlatformUse {
  readonly instances: number
  readonly bindings: number
  readonly operations: number
}

/** What platforms ask for. Observations and sweeps are the broker's own. */
export const countedActions = [
  'provision',
  'update',
  'deprovision',
  'bind',
  'unbind',
] as const satisfies readonly Operation['action'][]
/** Those of them that may be refused: deletions make room. */
const refusable: readonly string[] = ['provision', 'update', 'bind']

/** Undefined where the change adds to nothing that is limited, as a repeated request does. */
export function withinOf(
  quota: Quota,
  platform: string,
  { instance, binding, operation, bindingOperation }: Snapshot,
  change: Change,
): Within | undefined {
  const known = [operation?.id, bindingOperation?.id]
  const adds: Readonly<Record<QuotaKind, boolean>> = {
    instances: !counts(instance) && counts(change.instance),
    bindings: !counts(binding) && change.bindings?.some(counts) === true,
    operations:
      change.operations?.some(
        ({ id, state, action }) => state === 'queued' && refusable.includes(action) && !known.includes(id),
      ) === true,
  }
  const limits = kinds.filter(kind => adds[kind] && quota[kind] !== undefined).map(kind => [kind, quota[kind]])
  return limits.length === 0 ? undefined : { platform, ...Object.fromEntries(limits) }
}

const kinds = ['instances', 'bindings', 'operations'] as const satisfies readonly QuotaKind[]

function counts(row: { readonly phase: string } | undefined): boolean {
  return row !== undefined && row.phase !== 'deleted'
}

/** The limits of a change, with the kind of each. */
export function limitsOf(within: Within): readonly (readonly [QuotaKind, number])[] {
  return kinds.flatMap(kind => {
    const limit = within[kind]
    return limit === undefined ? [] : [[kind, limit] as const]
  })
}

/** A request that would give its platform more than it may have. */
export class OverQuotaError extends BrokerError {
  readonly kind: QuotaKind

  constructor(kind: QuotaKind, ...rest: ConstructorParameters<typeof BrokerError>) {
    super(...rest)
    this.kind = kind
  }
}

/** CONC-02 for operations, which end by themselves. For the others an error of our own: UPD-20 has the same status for quotas. */
export function overQuota(kind: QuotaKind, { platform, [kind]: limit = 0 }: Within): OverQuotaError {
  if (kind === 'operations')
    return new OverQuotaError(
      kind,
      'ConcurrencyError',
      `The platform ${platform} has ${limit} operations in progress, which is all that it may have at a time. Repeat the request when one has ended.`,
      { retryAfter: 5 },
    )
  const one = kind === 'instances' ? 'an instance' : 'a binding'
  return new OverQuotaError(
    kind,
    'QuotaExceeded',
    `The platform ${platform} has all of the ${limit} ${kind} that it may have. Delete ${one}, or ask the broker's operator for more.`,
  )
}
