import type { ComponentChildren } from 'preact'
import { useResource } from '../api/resource.ts'
import type { BindingBody, ChoresBody, InstanceBody, ListBody, OperationBody, RegistriesBody } from '../api/types.ts'
import { serviceName, useCatalog } from '../catalog.ts'
import { Link, toPath } from '../router.tsx'
import { Empty, Head, Problem, Section, State, Tone } from '../ui/basics.tsx'
import { now, relative, Time } from '../ui/time.tsx'
import { stateOf } from './operations.tsx'
import { choreTrouble, registryTrouble } from './upkeep.tsx'

interface Stats {
  readonly at: string
  readonly age_seconds: number
  readonly operations: {
    readonly queued: number
    readonly running: number
    readonly succeeded: number
    readonly failed: number
    readonly oldest_due_at?: string
    readonly past_deadline: number
  }
}

interface ErrorGroup {
  readonly fingerprint: string
  readonly service_id: string
  readonly action: string
  readonly step?: string
  readonly failed: number
  readonly retrying: number
  readonly last_at: string
  readonly sample: { readonly operation_id: string; readonly instance_id: string; readonly message: string }
}

/** The home page: only what somebody should look at. Where that is nothing, it says so. */
export function Attention() {
  useCatalog()
  const stats = useResource<Stats>('admin/stats', { every: 5_000 })
  const held = useResource<ListBody<OperationBody>>('admin/operations?state=held&limit=20', { every: 5_000 })
  const failed = useResource<{ items: readonly ErrorGroup[] }>('admin/errors?limit=20', { every: 5_000 })
  const broken = useResource<ListBody<InstanceBody>>('admin/instances?usable=false&phase=failed&limit=20', {
    every: 10_000,
  })
  const expired = useExpired()
  const chores = useResource<ChoresBody>('admin/chores', { every: 5_000 })
  const registries = useResource<RegistriesBody>('admin/registries', { every: 10_000 })
  const groups = failed.data?.items ?? []
  const late = (chores.data?.chores ?? []).flatMap(chore => {
    const trouble = choreTrouble(chore)
    return trouble === undefined ? [] : [{ name: chore.name, trouble }]
  })
  const silent = (registries.data?.registries ?? []).flatMap(registry => {
    const trouble = registryTrouble(registry)
    return trouble === undefined ? [] : [{ name: registry.name, trouble }]
  })
  const holds = held.data?.items ?? []
  const overdue = useOverdue(stats.data?.operations.past_deadline ?? 0)
  const all = [stats, held, failed, broken, expired, chores, registries]
  const problem = all.find(({ error }) => error !== undefined)?.error
  const again = () => {
    for (const { reload } of all) reload()
  }
  const isLoaded = [failed, held, chores, registries].every(({ data }) => data !== undefined)
  const past = stats.data?.operations.past_deadline ?? 0
  const lists = [groups, late, silent, holds, broken.data?.items ?? [], expired.data?.items ?? []]
  const found = lists.reduce((sum, { length }) => sum + length, past)
  const isCalm = isLoaded && found === 0
  return (
    <>
      <Head
        title="Attention"
        about={
          isCalm
            ? 'Everything that was accepted is on its way, and nobody has to do anything.'
            : 'What no retry ends by itself.'
        }
      />
      {problem !== undefined && <Problem error={problem} retry={again} />}
      {stats.data !== undefined && <Numbers stats={stats.data} held={holds.length} />}
      {isCalm && (
        <section class="card">
          <Empty title="Nothing needs you">
            Look at <Link to="operations">what runs</Link>, or <Link to="try">try a service</Link>.
          </Empty>
        </section>
      )}
      <List title="Held: they wait for a decision" of={holds}>
        {operation => (
          <OperationLine key={operation.id} operation={operation} ends="fails">
            {operation.hold?.error?.message ?? operation.description}
          </OperationLine>
        )}
      </List>
      <List title="Past their deadline: nobody ends them" of={overdue}>
        {operation => (
          <OperationLine key={operation.id} operation={operation} ends="was to end">
            A worker ends it as soon as it has a place free: see <Link to="workers">whether any lives</Link>.
          </OperationLine>
        )}
      </List>
      <List title="Failures, by kind" of={groups}>
        {({ fingerprint, service_id, action, step, failed: ended, retrying, last_at, sample }) => (
          <li key={fingerprint}>
            <span class="what">
              <p>
                <Link to={toPath('operations', sample.operation_id)}>
                  <strong>{action}</strong>
                  {step !== undefined && `, ${step}`}
                </Link>{' '}
                <span class="muted">
                  {serviceName(service_id)}, lately of {sample.instance_id}
                </span>
              </p>
              <p class="small">{sample.message}</p>
            </span>
            {ended > 0 && (
              <Link to={`operations?state=failed&error=${encodeURIComponent(fingerprint)}`}>
                <Tone tone="bad">{ended} failed</Tone>
              </Link>
            )}
            {retrying > 0 && (
              <Link to={`operations?error=${encodeURIComponent(fingerprint)}`}>
                <Tone tone="busy">{retrying} try again</Tone>
              </Link>
            )}
            <Time at={last_at} />
          </li>
        )}
      </List>
      <List title="Instances that failed" of={broken.data?.items ?? []}>
        {instance => (
          <li key={instance.id}>
            <span class="what">
              <Link to={toPath('instances', instance.id)}>
                <strong>{instance.id}</strong>
              </Link>{' '}
              <span class="muted">{serviceName(instance.service_id)}</span>
            </span>
            <State of={instance.phase} />
            <Time at={instance.updated_at} />
          </li>
        )}
      </List>
      <List title="Bindings that have expired" of={expired.data?.items ?? []}>
        {binding => (
          <li key={`${binding.instance_id} ${binding.id}`}>
            <span class="what">
              <Link to={toPath('instances', binding.instance_id)}>
                <strong>{binding.id}</strong>
              </Link>{' '}
              <span class="muted">
                {serviceName(binding.service_id)}, of {binding.instance_id}
              </span>
            </span>
            <State of={binding.phase} />
            {binding.expires_at !== undefined && <Time at={binding.expires_at} />}
          </li>
        )}
      </List>
      <List title="Registries that do not answer" of={silent}>
        {({ name, trouble }) => <TroubleLine key={name} name={name} trouble={trouble} />}
      </List>
      <List title="Chores that are late or failed" of={late}>
        {({ name, trouble }) => <TroubleLine key={name} name={name} trouble={trouble} />}
      </List>
    </>
  )
}

/** Those that nobody has unbound an hour after their end: the broker has had the time to do it, where it should. */
function useExpired() {
  const hour = 3_600_000
  // A path that is another one with each second would be asked for anew with each.
  const before = new Date(Math.floor(now.value / hour) * hour - hour).toISOString()
  return useResource<ListBody<BindingBody>>(`admin/bindings?by=expires&order=oldest&limit=20&before=${before}`, {
    every: 10_000,
  })
}

/** The first of them, among those that were accepted first: there is no list by deadlines. */
function useOverdue(counted: number): readonly OperationBody[] {
  const path = (state: string) => (counted === 0 ? undefined : `admin/operations?state=${state}&order=oldest&limit=200`)
  const queued = useResource<ListBody<OperationBody>>(path('queued'), { every: 5_000 })
  const running = useResource<ListBody<OperationBody>>(path('running'), { every: 5_000 })
  if (counted === 0) return []
  return [queued, running]
    .flatMap(({ data }) => data?.items ?? [])
    .filter(({ deadline_at }) => Date.parse(deadline_at) < now.value)
    .slice(0, 20)
}

function List<Item>({
  title,
  of: items,
  children,
}: {
  readonly title: string
  readonly of: readonly Item[]
  children(item: Item): ComponentChildren
}) {
  if (items.length === 0) return null
  return (
    <Section title={title}>
      <ul class="lines">{items.map(children)}</ul>
    </Section>
  )
}

interface OperationLineProps {
  readonly operation: OperationBody
  /** What happens to it at its deadline. */
  readonly ends: string
  readonly children: ComponentChildren
}

function OperationLine({ operation, ends, children }: OperationLineProps) {
  return (
    <li>
      <span class="what">
        <p>
          <Link to={toPath('operations', operation.id)}>
            <strong>{operation.action}</strong> of {operation.instance_id}
          </Link>
        </p>
        <p class="small muted">{children}</p>
      </span>
      <State of={stateOf(operation)} />
      <span class="small muted nowrap">
        {ends} {relative(Date.parse(operation.deadline_at))}
      </span>
    </li>
  )
}

function TroubleLine({ name, trouble }: { readonly name: string; readonly trouble: string }) {
  return (
    <li>
      <span class="what">
        <p>
          <Link to="upkeep">
            <strong>{name}</strong>
          </Link>
        </p>
        <p class="small">{trouble}</p>
      </span>
      <Tone tone="bad">trouble</Tone>
    </li>
  )
}

function Numbers({ stats: { operations, age_seconds }, held }: { readonly stats: Stats; readonly held: number }) {
  const due = operations.oldest_due_at
  const cells = [
    ['operations?state=running', operations.running, 'running', 'busy'],
    ['operations?state=queued', operations.queued, 'waiting', ''],
    ['operations?state=held', held, 'held', held > 0 ? 'warn' : ''],
    ['operations?state=failed', operations.failed, 'failed lately', operations.failed > 0 ? 'bad' : ''],
    [
      'operations?state=queued&order=oldest',
      operations.past_deadline,
      'past their deadline',
      operations.past_deadline > 0 ? 'bad' : '',
    ],
  ] as const
  return (
    <div>
      <div class="numbers">
        {cells.map(([to, count, words, tone]) => (
          <Link key={words} to={to} class={tone}>
            <b>{count.toLocaleString()}</b>
            <span>{words}</span>
          </Link>
        ))}
      </div>
      <p class="small muted">
        Counted {age_seconds < 2 ? 'just now' : `${age_seconds} s ago`}
        {due !== undefined && `; the first that is due waits since ${relative(Date.parse(due))}`}.
      </p>
    </div>
  )
}
