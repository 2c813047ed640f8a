import type { OsbResponse, Problem, WireError } from '../client/index.ts'
import { messageOf } from '../shape/thrown.ts'
import { CliError, failure } from './cli-error.ts'

/** Of the OSB API, or of the operators'. */
type Refused = Pick<WireError, 'description'> & Pick<Problem, 'detail'> & { readonly error?: unknown }

/** The broker's answer as an error: what was tried, the status and text of the answer, and what may help with this instance. */
export function refusal(what: string, response: OsbResponse<Refused>, { instanceId = '<instance>' } = {}): CliError {
  const next = advise(response).replaceAll('<instance>', () => instanceId)
  const isSignIn = response.status === 401 || response.status === 403
  return new CliError(isSignIn ? 4 : 1, { what, why: explain(response), next })
}

/** The connection ended in the middle of an answer: what has come is not the whole. */
export function brokeOff(what: string, error: unknown): CliError {
  return failure({
    what: `${what} broke off`,
    why: messageOf(error),
    next: 'Begin again; the log of the broker says more if it was not the network.',
  })
}

/** The status and the text of an answer. */
export function explain({ status, body }: OsbResponse<Refused>): string {
  const words = [body.error, body.detail ?? body.description].filter(word => typeof word === 'string' && word !== '')
  return `the broker answered ${status}${words.length === 0 ? ' without a reason' : ` ${words.join(': ')}`}`
}

function advise({ status, body }: OsbResponse<Refused>): string {
  // Only the operators' API answers problems.
  const ofStatus = body.detail === undefined ? statusAdvice : { ...statusAdvice, ...operatorsAdvice }
  const known = errorAdvice.get(body.error) ?? ofStatus[status]
  if (known !== undefined) return known
  return status >= 500
    ? 'Try again; if it fails again, the log of the broker says more.'
    : 'Check that the address is that of an Open Service Broker.'
}

const errorAdvice = new Map<unknown, string>(
  Object.entries({
    AsyncRequired: 'Leave --sync off: this plan works only asynchronously.',
    ConcurrencyError:
      'Wait until the running operation has ended (purser status <instance> shows it), then repeat the command.',
    MaintenanceInfoConflict: 'Read the catalog again (purser catalog): its maintenance version has changed.',
    RequiresApp: 'This service binds applications only; use the platform on which the application runs.',
    ChoreRunning: 'Wait until it has ended (purser chores list shows it), then repeat the command.',
    UnknownOperation: 'Check the id: the broker gave it with its 202 and writes it to its log.',
    BackendNotListed: 'Do what the broker says (its account may need a right), then repeat the command.',
    VerbRefused: 'Do what the broker says, then repeat the command.',
    UnknownRevision: 'purser registries list --output json shows the revisions there are.',
    InvalidState: 'Give the state that the actions of the service read; its author knows it.',
    UnknownChore: 'purser chores list shows the chores there are.',
    Forbidden: 'Use the credentials of a user that has the role, or add it to auth.basic[].roles of the broker.',
    BindingsExist: 'Remove the bindings first (purser unbind <instance> <binding>).',
  }),
)

const statusAdvice: Readonly<Record<number, string>> = {
  400: 'Correct the request; purser catalog --output json shows services, plans and the schemas of their parameters.',
  401: 'Give --user name:password or --token, or set PURSER_USERNAME and PURSER_PASSWORD.',
  403: 'Use credentials that are allowed to do this.',
  404: 'Check the id and the address; an instance that is still being made cannot be found yet.',
  409: 'The id is taken by something made with other attributes: choose another with --id.',
  410: 'Nothing is left to do: the broker does not know it.',
  412: 'Choose a version that the broker supports with --api-version.',
  422: 'Change the request as the broker says.',
}

const operatorsAdvice: Readonly<Record<number, string>> = {
  400: 'Correct what the broker names; the --help of the command shows what there is.',
  404: 'Check the id: the list of its kind shows those there are.',
}
