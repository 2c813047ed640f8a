import { useResource } from '../api/resource.ts'
import { Columns, Empty, Head, Loaded, Section } from '../ui/basics.tsx'
import { duration, Time } from '../ui/time.tsx'

interface Worker {
  readonly owner: string
  readonly name?: string
  readonly host: string
  readonly pid: number
  readonly version?: string
  readonly node?: string
  readonly since: string
  readonly seen_at: string
  readonly slots: number
  readonly used: number
}

interface Counted {
  readonly service_id?: string
  readonly phase: string
  readonly instances?: number
  readonly bindings?: number
}

interface Stats {
  readonly at: string
  readonly window_seconds: number
  readonly active: readonly { readonly action: string; readonly state: string; readonly operations: number }[]
  readonly ended: readonly { readonly action: string; readonly state: string; readonly operations: number }[]
  readonly instances: readonly Counted[]
  readonly bindings: readonly Counted[]
}

export function Workers() {
  const workers = useResource<{ items: readonly Worker[] }>('admin/workers', { every: 5_000 })
  const stats = useResource<Stats>('admin/stats', { every: 10_000 })
  return (
    <>
      <Head title="Workers and store" about="The processes that live, and what the ledger holds." />
      <Section title="Workers">
        <Loaded from={workers}>
          {({ items }) =>
            items.length === 0 ? (
              <Empty title="No process has said that it lives">One that runs does so every few seconds.</Empty>
            ) : (
              <ul class="lines">
                {items.map(worker => (
                  <WorkerLine key={worker.owner} worker={worker} />
                ))}
              </ul>
            )
          }
        </Loaded>
      </Section>
      <Loaded from={stats}>
        {({ active, ended, instances, bindings, window_seconds, at }) => (
          <>
            <div class="grid-2">
              <CountTable title="Operations that have not ended" rows={active} empty="Nothing runs or waits" />
              <CountTable
                title={`Ended within ${duration(window_seconds * 1_000)}`}
                rows={ended}
                empty="Nothing has ended lately"
              />
            </div>
            <Section
              title="Store"
              aside={
                <span class="small muted">
                  counted <Time at={at} />
                </span>
              }
            >
              <div class="body">
                <p class="sentence">
                  Not deleted: instances {sum(instances.map(each => each.instances))}, bindings{' '}
                  {sum(bindings.map(each => each.bindings))}.
                </p>
              </div>
            </Section>
          </>
        )}
      </Loaded>
    </>
  )
}

function sum(numbers: readonly (number | undefined)[]): string {
  return numbers.reduce<number>((all, each = 0) => all + each, 0).toLocaleString()
}

function WorkerLine({ worker }: { readonly worker: Worker }) {
  const { owner, name, host, pid, version, node, since, seen_at, slots, used } = worker
  return (
    <li>
      <span class="what">
        <p>
          <strong title={owner}>{name ?? `${host}/${pid}`}</strong>{' '}
          <span class="muted small">
            {version === undefined ? '' : `Purser ${version}, `}Node.js {node}
          </span>
        </p>
        <p class="small muted">
          since <Time at={since} />, seen <Time at={seen_at} />
        </p>
      </span>
      <label class="small muted">
        {used} of {slots} places in use
        <meter min={0} max={slots} value={used} />
      </label>
    </li>
  )
}

interface CountProps {
  readonly title: string
  readonly rows: Stats['active']
  readonly empty: string
}

function CountTable({ title, rows, empty }: CountProps) {
  return (
    <Section title={title}>
      {rows.length === 0 ? (
        <Empty title={empty} />
      ) : (
        <div class="body">
          <table class="plain">
            <Columns of={['Action', 'State', 'Operations']} />
            <tbody>
              {rows.map(({ action, state, operations }) => (
                <tr key={`${action} ${state}`}>
                  <td>{action}</td>
                  <td>{state}</td>
                  <td>{operations.toLocaleString()}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </Section>
  )
}
