import { useState } from 'preact/hooks'
import { post } from '../api/client.ts'
import { useResource } from '../api/resource.ts'
import type { AbandonedBody, BindingBody, ListBody, MovedBody, OperationBody, ShownInstanceBody } from '../api/types.ts'
import { planName, serviceName, useCatalog } from '../catalog.ts'
import { Link, toPath } from '../router.tsx'
import { Copy, Empty, Facts, Head, Loaded, Section, ShortId, State, Tone } from '../ui/basics.tsx'
import { type Asked, ReasonDialog } from '../ui/reason-dialog.tsx'
import { Time } from '../ui/time.tsx'
import { toast } from '../ui/toasts.tsx'
import { BindingLine, InstanceTryActions } from './instance-try.tsx'
import { Health, type Instance } from './instances.tsx'
import { whyNot } from './operation.tsx'
import { errorOf, stateOf } from './operations.tsx'
import { instanceVerbs, verbOf } from './verbs.ts'

export type ShownInstance = ShownInstanceBody & Instance

export function InstancePage({ id }: { readonly id: string }) {
  useCatalog()
  const shown = useResource<ShownInstance>(toPath('admin', 'instances', id), { every: 2_000 })
  const [remains, setRemains] = useState<AbandonedBody | undefined>()
  return (
    <Loaded from={shown}>
      {instance => (
        <>
          <Head
            name={instance.id}
            title={
              <>
                <span class="crumb">
                  <Link to="instances">Instances</Link> · {serviceName(instance.service_id)},{' '}
                  {planName(instance.service_id, instance.plan_id)}
                </span>
                {instance.id}
              </>
            }
          >
            <State of={instance.phase} />
            {instance.phase !== 'deleted' && <Health instance={instance} />}
          </Head>
          {remains !== undefined && <Remains of={remains} />}
          <InstanceTryActions instance={instance} reload={shown.reload} />
          <OperatorActions instance={instance} reload={shown.reload} onAbandoned={setRemains} />
          <div class="grid-2">
            <Section title="About">
              <Facts
                of={[
                  [
                    'Instance',
                    <>
                      <code class="id">{instance.id}</code> <Copy text={instance.id} what="the id" />
                    </>,
                  ],
                  ['Service', serviceName(instance.service_id)],
                  ['Plan', planName(instance.service_id, instance.plan_id)],
                  ['Platform', instance.platform],
                  [
                    'Revision',
                    instance.revision_id === undefined ? 'of the broker’s code' : <ShortId id={instance.revision_id} />,
                  ],
                  ['Created', <Time at={instance.created_at} />],
                  ['Changed', <Time at={instance.updated_at} />],
                  instance.deleted_at === undefined ? undefined : ['Deleted', <Time at={instance.deleted_at} />],
                  instance.dashboard_url === undefined
                    ? undefined
                    : [
                        'Dashboard',
                        <a href={instance.dashboard_url} rel="noreferrer">
                          {instance.dashboard_url}
                        </a>,
                      ],
                ]}
              />
            </Section>
            <Conditions instance={instance} />
          </div>
          <Section title="Bindings">
            {(instance.bindings ?? []).length === 0 ? (
              <Empty title="It has no bindings">A platform makes one to get credentials for an application.</Empty>
            ) : (
              <ul class="lines">
                {instance.bindings?.map(binding => (
                  <BindingLine key={binding.id} instance={instance} binding={binding} reload={shown.reload} />
                ))}
              </ul>
            )}
          </Section>
          {/* Those of a deleted instance are deleted once more together with it. */}
          {instance.phase !== 'deleted' && <DeletedBindings id={id} />}
          <OperationsOf id={id} />
        </>
      )}
    </Loaded>
  )
}

function Conditions({ instance: { conditions = [] } }: { readonly instance: ShownInstance }) {
  return (
    <Section title="Conditions">
      {conditions.length === 0 ? (
        <Empty title="Nobody has looked at it yet">
          Services that can be observed are looked at by the chore observe.
        </Empty>
      ) : (
        <ul class="lines">
          {conditions.map(({ type, status, reason, message, since, observed_at }) => (
            <li key={type}>
              <span class="what">
                <p>
                  <strong>{type}</strong> {reason !== undefined && <span class="muted">{reason}</span>}
                </p>
                {message !== undefined && <p class="small">{message}</p>}
                <p class="small muted">
                  since <Time at={since} />, looked at <Time at={observed_at} />
                </p>
              </span>
              <Tone tone={(type === 'Ready') === status ? 'good' : 'bad'}>{status ? 'yes' : 'no'}</Tone>
            </li>
          ))}
        </ul>
      )}
    </Section>
  )
}

interface OperatorProps {
  readonly instance: ShownInstance
  reload(): void
  onAbandoned(answer: AbandonedBody): void
}

function OperatorActions({ instance, reload, onAbandoned }: OperatorProps) {
  const [asked, setAsked] = useState<Asked | undefined>()
  const { id, allowed_actions: allowed = {}, bindings = [] } = instance
  const asks: Readonly<Record<string, () => Pick<Asked, 'act'> & Partial<Asked>>> = {
    observe: () => ({
      act: async reason => {
        await post(toPath('admin', 'instances', id, 'observe'), reason === '' ? {} : { reason })
        toast('Accepted: it is being looked at.')
        reload()
      },
    }),
    move: () => ({
      needsReason: true,
      fields: (
        <label>
          Revision
          <input name="revision" placeholder="The one that is offered now" spellcheck={false} />
        </label>
      ),
      act: async (reason, given) => {
        const revision = String(given.get('revision') ?? '').trim()
        const answer = await post<MovedBody>(toPath('admin', 'instances', id, 'move'), {
          reason,
          ...(revision === '' ? {} : { revision }),
        })
        toast(answer.revision === answer.moved_from ? 'It was there already.' : `Moved to ${answer.revision}.`)
        reload()
      },
    }),
    sweep: () => ({ needsReason: true, act: reason => sweep(id, { reason }).then(reload) }),
    abandon: () => ({
      needsReason: true,
      fields: bindings.length > 0 && (
        <label class="check">
          <input type="checkbox" name="bindings" /> Its{' '}
          {bindings.length === 1 ? 'binding' : `${bindings.length} bindings`}, too
        </label>
      ),
      act: async (reason, given) => {
        const body = { reason, bindings: given.get('bindings') !== null }
        onAbandoned(await post<AbandonedBody>(toPath('admin', 'instances', id, 'abandon'), body))
        reload()
      },
    }),
  }
  const refusals = [...instanceVerbs, 'sweep'].map(verb => {
    const { words, role } = verbOf(verb)
    return { verb, words, why: whyNot(allowed[verb] ?? { allowed: false }, role) }
  })
  const ask = (verb: string) => {
    const { words, about, danger = false } = verbOf(verb)
    const own = asks[verb]?.()
    if (own !== undefined) setAsked({ title: `${words}: ${id}`, about: <p>{about}</p>, verb: words, danger, ...own })
  }
  return (
    <div class="actions">
      {refusals.map(({ verb, words, why }) => (
        <button key={verb} type="button" disabled={why !== undefined} title={why} onClick={() => ask(verb)}>
          {words}
        </button>
      ))}
      {refusals.map(
        ({ verb, words, why }) =>
          why !== undefined && (
            <span key={verb} class="small muted">
              {words}: {why}
            </span>
          ),
      )}
      <ReasonDialog asked={asked} onClose={() => setAsked(undefined)} />
    </div>
  )
}

async function sweep(id: string, body: { readonly reason: string; readonly binding_id?: string }): Promise<void> {
  await post(toPath('admin', 'instances', id, 'sweep'), body)
  toast('Accepted: it is being deleted once more.')
}

/** The latest of them: what an unbind has left behind is deleted once more. */
function DeletedBindings({ id }: { readonly id: string }) {
  const [asked, setAsked] = useState<Asked | undefined>()
  const path = `admin/bindings?limit=20&phase=deleted&instance_id=${encodeURIComponent(id)}`
  const { data, reload } = useResource<ListBody<BindingBody>>(path, { every: 5_000 })
  const { words, about, role } = verbOf('sweep')
  const bindings = data?.items ?? []
  if (bindings.length === 0) return null
  const ask = (binding: string) =>
    setAsked({
      title: `${words}: ${binding}`,
      about: <p>{about}</p>,
      verb: words,
      needsReason: true,
      act: reason => sweep(id, { reason, binding_id: binding }).then(reload),
    })
  const why = whyNot({ allowed: true }, role)
  return (
    <Section title="Deleted bindings">
      <ul class="lines">
        {bindings.map(binding => (
          <li key={binding.id}>
            <span class="what">
              <code class="id">{binding.id}</code>{' '}
              <span class="small muted">
                deleted <Time at={binding.deleted_at} />
              </span>
            </span>
            <button type="button" disabled={why !== undefined} title={why} onClick={() => ask(binding.id)}>
              {words}
            </button>
          </li>
        ))}
      </ul>
      <ReasonDialog asked={asked} onClose={() => setAsked(undefined)} />
    </Section>
  )
}

/** What nobody has removed, by name: values may be secret. */
function Remains({ of: { remains, operation } }: { readonly of: AbandonedBody }) {
  const lists = [
    ['What its state named', remains?.state_keys],
    ['Its sandboxes', remains?.sandboxes],
    ['What bindings named', remains?.bindings.flatMap(({ id, state_keys }) => state_keys.map(key => `${id}: ${key}`))],
  ] as const
  return (
    <div class="note warn stack" role="status">
      <p class="sentence">It counts as deleted. Remove by hand what is left of it.</p>
      <Facts
        of={[
          ...lists.map(([name, list = []]) => (list.length === 0 ? undefined : ([name, list.join(', ')] as const))),
          remains?.revision === undefined ? undefined : ['What acted on it', `revision ${remains.revision}`],
          remains?.dashboard_url === undefined ? undefined : ['Its dashboard', remains.dashboard_url],
          remains?.quiet_until === undefined ? undefined : ['Its id is free again', <Time at={remains.quiet_until} />],
          operation === undefined ? undefined : ['Polls are answered by', <code class="id">{operation}</code>],
        ]}
      />
    </div>
  )
}

function OperationsOf({ id }: { readonly id: string }) {
  const { data } = useResource<ListBody<OperationBody>>(
    `admin/operations?limit=20&instance_id=${encodeURIComponent(id)}`,
    { every: 2_000 },
  )
  return (
    <Section
      title="Operations"
      aside={
        <Link to={`operations?instance_id=${encodeURIComponent(id)}`} class="small">
          All of them
        </Link>
      }
    >
      <ul class="lines">
        {data?.items?.map(operation => (
          <li key={operation.id}>
            <span class="what">
              <p>
                <Link to={toPath('operations', operation.id)}>
                  <strong>{operation.action}</strong>
                </Link>
                {operation.binding_id !== undefined && <span class="muted"> {operation.binding_id}</span>}
              </p>
              {(errorOf(operation) ?? operation.description) !== undefined && (
                <p class="small muted">{errorOf(operation) ?? operation.description}</p>
              )}
            </span>
            <State of={stateOf(operation)} />
            <Time at={operation.accepted_at} />
          </li>
        ))}
      </ul>
    </Section>
  )
}
