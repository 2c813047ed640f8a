import { PassingError, TerminalError } from '../../engine/errors.ts'
import { ClusterSettingsError, ClusterUnavailableError, KubernetesError } from '../../kubernetes/errors.ts'

/** The broker may not do that: it could not look at the object, let alone make it. */
export class NoRightError extends TerminalError {}

/** What an answer of the cluster means for who waits for the action. `what` is the object: `Deployment web`. */
export function toActionError(error: unknown, what: string, redact: (text: string) => string): unknown {
  if (error instanceof ClusterUnavailableError)
    return new PassingError(`${what}: the cluster does not answer, or is too busy`, { cause: error })
  if (error instanceof ClusterSettingsError)
    return new TerminalError('The broker has no cluster to make it in: an operator has to name one.', { cause: error })
  if (!(error instanceof KubernetesError)) return error
  const { status, reason } = error
  const said = redact(error.message.replace(/^[A-Z]+ \S+: /, ''))
  if (status === 409 && said.includes('Apply failed with')) return conflict(what, said, error)
  if (status === 409 || status === 429) return new PassingError(`${what}: ${said}`, { cause: error })
  if (status === 403 && / cannot \w+ resource /.test(said))
    return new NoRightError(
      `${what}: the broker has no right to do that in the cluster: an operator has to give it to its account (${said})`,
      { cause: error },
    )
  for (const [isIt, text, options] of refusals)
    if (isIt(status, said, reason)) return new TerminalError(`${what}: ${text} (${said})`, { ...options, cause: error })
  return new TerminalError(`${what}: the cluster refuses it (${said})`, { cause: error })
}

function conflict(what: string, said: string, cause: unknown): TerminalError {
  if (said.includes('purser.dev/owner'))
    return new TerminalError(`${what} is there already, and belongs to another instance: give it another name.`, {
      cause,
    })
  return new TerminalError(
    `${what}: somebody else has set the same fields (${said}). Take them out of the template, or write "force: true" there.`,
    { cause },
  )
}

type Refusal = readonly [
  isIt: (status: number, said: string, reason: string) => boolean,
  text: string,
  options?: { readonly updateRepeatable: false },
]

/** In this order: the first one that fits is told. */
const refusals: readonly Refusal[] = [
  [
    (_, said) => /field is immutable|may not be changed|are immutable/i.test(said),
    immutable(),
    { updateRepeatable: false },
  ],
  [(status, said) => status === 403 && said.includes('exceeded quota'), 'the quota of the namespace is used up'],
  [(status, said) => status === 403 && said.includes('being terminated'), 'its namespace is being deleted'],
  [(_, said) => /denied (the )?request/.test(said), 'a policy of the cluster refuses it'],
  [status => status === 404, 'its namespace, or the object itself, is not there'],
  [status => status === 422 || status === 400, 'the cluster cannot read the object as it is written'],
]

function immutable(): string {
  return 'a field cannot be changed once the object is there: leave it as it was, or give the object another name'
}
