import { useState } from 'preact/hooks'
import { post } from '../api/client.ts'
import { useResource } from '../api/resource.ts'
import { useSoon, useStream } from '../api/stream.ts'
import type { OperationLogBody, ShownOperationBody, TimelineBody } from '../api/types.ts'
import { serviceName, useCatalog } from '../catalog.ts'
import { Link, navigate, toPath } from '../router.tsx'
import { may } from '../session.tsx'
import type { TimelineOperation } from '../timeline/model.ts'
import { shortWorker, TimelineView } from '../timeline/timeline.tsx'
import { Copy, Facts, Head, InstanceLink, Loaded, OperationLink, Section, State } from '../ui/basics.tsx'
import { type Asked, ReasonDialog } from '../ui/reason-dialog.tsx'
import { duration, now, relative, Time } from '../ui/time.tsx'
import { toast } from '../ui/toasts.tsx'
import { errorOf, stateOf } from './operations.tsx'
import { type Verb, verbOf } from './verbs.ts'

export type Operation = ShownOperationBody & TimelineOperation

const isActive = ({ state }: Pick<Operation, 'state'>) => state === 'queued' || state === 'running'

export function OperationPage({ id }: { readonly id: string }) {
  useCatalog()
  const [ended, setEnded] = useState(false)
  const path = toPath('admin', 'operations', id)
  const [live, setLive] = useState(false)
  // Without a stream it is looked at every second; with one, now and then.
  const shown = useResource<Operation>(path, ended ? {} : { every: live ? 10_000 : 1_000 })
  const soon = useSoon(shown.reload, 120)
  const connected = useStream(ended ? undefined : `${path}/timeline`, soon)
  if (connected !== live) setLive(connected)
  if (shown.data !== undefined && ended === isActive(shown.data)) setEnded(!ended)
  return (
    <Loaded from={shown}>
      {operation => (
        <>
          <Head
            name={`${operation.action} of ${operation.instance_id}`}
            title={
              <>
                <span class="crumb">
                  <Link to="operations">Operations</Link> · {serviceName(operation.service_id)}
                </span>
                {operation.action} of {operation.instance_id}
              </>
            }
          >
            <State of={stateOf(operation)} />
          </Head>
          <Sentence operation={operation} />
          <Actions operation={operation} reload={shown.reload} />
          <Section title="Timeline" aside={<Live on={isActive(operation) && shown.error === undefined} />}>
            <TimelineView operation={operation} />
          </Section>
          <Steps operation={operation} />
          <Log id={id} live={isActive(operation)} />
          <OperationHistory id={id} live={isActive(operation)} />
          <About operation={operation} />
        </>
      )}
    </Loaded>
  )
}

function Live({ on }: { readonly on: boolean }) {
  return <span class={`live${on ? '' : ' off'}`}>{on ? 'live' : 'ended'}</span>
}

const tones: Readonly<Record<string, string>> = { succeeded: 'good', failed: 'bad', held: 'warn', superseded: 'calm' }

/** One sentence: what it waits for, and until when; or how it ended. */
function Sentence({ operation }: { readonly operation: Operation }) {
  const { waiting_for, hold, deadline_at, lease_owner, accepted_at, finished_at } = operation
  const state = stateOf(operation)
  const took = duration((finished_at === undefined ? now.value : Date.parse(finished_at)) - Date.parse(accepted_at))
  const next = Date.parse(operation.not_before)
  const error = errorOf(operation)
  return (
    <p class={`note sentence ${tones[state] ?? ''}`}>
      {state === 'held' ? (
        <>
          Held for a decision{hold?.by === undefined ? '' : ` by ${hold.by}`}, since{' '}
          {relative(Date.parse(hold?.since ?? ''))}
          {hold?.error === undefined ? '.' : `: ${hold.error.message}`}{' '}
          <span class="muted">
            For the platform it is in progress. It fails {relative(Date.parse(deadline_at))} where nobody decides.
          </span>
        </>
      ) : isActive(operation) ? (
        <>
          {capital(waiting_for ?? 'It waits')}
          {state === 'running' && lease_owner !== undefined && ` (${shortWorker(lease_owner)})`}
          {state === 'queued' && next > now.value && `; it goes on ${relative(next)}`}.{' '}
          <span class="muted">
            It has been going on for {took}, and fails {relative(Date.parse(deadline_at))} if it has not ended by then.
          </span>
        </>
      ) : state === 'succeeded' ? (
        <>Succeeded after {took}.</>
      ) : state === 'failed' ? (
        <>
          Failed after {took}: {error ?? 'no reason was given.'}
        </>
      ) : (
        <>Another operation took its place after {took}.</>
      )}
    </p>
  )
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}

export function whyNot(allowed: { allowed: boolean; reason?: string }, role = 'operator'): string | undefined {
  if (!may(role)) return `This needs the role ${role}.`
  return allowed.allowed ? undefined : (allowed.reason ?? 'Not now.')
}

function Actions({ operation, reload }: { readonly operation: Operation; reload(): void }) {
  const [asked, setAsked] = useState<Asked | undefined>()
  const ask = (verb: string, { words, about, danger }: Verb) =>
    setAsked({
      title: `${words}: ${operation.action} of ${operation.instance_id}`,
      about: <p>{about}</p>,
      verb: words,
      danger,
      needsReason: verb === 'fail',
      fields: verb === 'fail' && (
        <label>
          What the platform shows to its user
          <textarea name="message" rows={2} required maxLength={10_000} />
        </label>
      ),
      act: async (reason, given) => {
        const message = given.get('message')
        const body = { ...(reason === '' ? {} : { reason }), ...(message === null ? {} : { message: String(message) }) }
        const answer = await post<Operation>(toPath('admin', 'operations', operation.id, verb), body)
        toast(`${words}: accepted.`)
        reload()
        if (answer.id !== undefined && answer.id !== operation.id) navigate(toPath('operations', answer.id))
      },
    })
  const entries = Object.entries(operation.allowed_actions ?? {})
  const refused = entries
    .map(([verb, allowed]) => [verb, whyNot(allowed)] as const)
    .filter(([, why]) => why !== undefined)
  return (
    <div class="stack">
      <div class="actions">
        {entries.map(([verb, allowed]) => {
          const known = verbOf(verb)
          const why = whyNot(allowed)
          return (
            <button
              key={verb}
              type="button"
              disabled={why !== undefined}
              aria-describedby={why === undefined ? undefined : `why-${verb}`}
              title={why}
              onClick={() => ask(verb, known)}
            >
              {known.words}
            </button>
          )
        })}
      </div>
      {refused.length > 0 && (
        <details class="small">
          <summary>Why some are not allowed now</summary>
          <ul>
            {refused.map(([verb, why]) => (
              <li key={verb} id={`why-${verb}`} class="muted">
                {verbOf(verb).words}: {why}
              </li>
            ))}
          </ul>
        </details>
      )}
      <ReasonDialog asked={asked} onClose={() => setAsked(undefined)} />
    </div>
  )
}

function Steps({ operation: { steps = [] } }: { readonly operation: Operation }) {
  if (steps.length === 0) return null
  return (
    <Section title="Steps">
      <ul class="lines">
        {steps.map(({ name, state, attempts, error }) => (
          <li key={name}>
            <span class="what">
              <p>
                <strong>{name}</strong>{' '}
                <span class="muted small">
                  {attempts} {attempts === 1 ? 'attempt' : 'attempts'}
                </span>
              </p>
              {error !== undefined && <p class="problem">{error}</p>}
            </span>
            <State of={state} />
          </li>
        ))}
      </ul>
    </Section>
  )
}

function Log({ id, live }: { readonly id: string; readonly live: boolean }) {
  const { data } = useResource<OperationLogBody>(toPath('admin', 'operations', id, 'log'), live ? { every: 3_000 } : {})
  const runs = data?.runs ?? []
  if (runs.length === 0) return null
  return (
    <Section title="Log">
      <div class="body stack">
        {runs.map(({ name, verdict, exit, message, log }) => (
          <div key={name} class="stack">
            <p class="small muted">
              {name}: {verdict ?? 'running'}
              {exit === undefined ? '' : `, exit ${exit}`}
              {message === undefined ? '' : `. ${message}`}
            </p>
            {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached by keyboard */}
            <pre class="log" role="region" tabIndex={0} aria-label={`What ${name} printed`}>
              {log === '' ? 'It printed nothing.' : log}
            </pre>
          </div>
        ))}
      </div>
    </Section>
  )
}

interface HistoryLine {
  readonly at: string
  readonly type: string
  readonly verb?: string
  readonly by?: string
  readonly reason?: string
  readonly message?: string
  readonly request_id?: string
}

function OperationHistory({ id, live }: { readonly id: string; readonly live: boolean }) {
  const path = toPath('admin', 'operations', id, 'timeline')
  const { data } = useResource<TimelineBody>(path, live ? { every: 3_000 } : {})
  const lines = ((data?.events ?? []) as readonly HistoryLine[]).filter(({ type }) => type !== 'step')
  if (lines.length === 0) return null
  return (
    <Section title="History">
      <ul class="lines">
        {lines.map(line => (
          <li key={`${line.at}${line.type}`}>
            <span class="what">
              <p>
                <strong>{line.verb ?? line.type}</strong>
                {line.by !== undefined && ` by ${line.by}`}
                {line.reason !== undefined && <span class="muted">: {line.reason}</span>}
                {line.message !== undefined && <span class="muted">: {line.message}</span>}
              </p>
            </span>
            <Time at={line.at} />
          </li>
        ))}
      </ul>
    </Section>
  )
}

function About({ operation }: { readonly operation: Operation }) {
  const { id, instance_id, binding_id, retry_of, accepted_at, finished_at, attempt, request_id, fence } = operation
  return (
    <Section title="About">
      <Facts
        of={[
          [
            'Operation',
            <>
              <code class="id">{id}</code> <Copy text={id} what="the id" />
            </>,
          ],
          ['Instance', <InstanceLink id={instance_id} />],
          binding_id === undefined ? undefined : ['Binding', binding_id],
          retry_of === undefined ? undefined : ['Repeats', <OperationLink id={retry_of} />],
          ['Accepted', <Time at={accepted_at} />],
          ['Ended', <Time at={finished_at} />],
          ['Leases so far', `${attempt}${fence === undefined ? '' : `, fence ${fence}`}`],
          request_id === undefined ? undefined : ['Request', <code class="id">{request_id}</code>],
        ]}
      />
    </Section>
  )
}
