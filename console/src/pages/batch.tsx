import { useState } from 'preact/hooks'
import { itemsAtOnce, useBatchItems } from '../api/batch-items.ts'
import { post } from '../api/client.ts'
import { useResource } from '../api/resource.ts'
import type { BatchBody, BatchItemBody } from '../api/types.ts'
import { Link, toPath } from '../router.tsx'
import { may } from '../session.tsx'
import { Empty, Facts, Head, InstanceLink, Loaded, OperationLink, Section, State, Tone } from '../ui/basics.tsx'
import { PagedTable } from '../ui/paged-table.tsx'
import { type Asked, ReasonDialog } from '../ui/reason-dialog.tsx'
import { Time } from '../ui/time.tsx'
import { toast } from '../ui/toasts.tsx'
import type { Column } from '../ui/virtual-table.tsx'
import { VerdictOf } from './batch-dialog.tsx'
import { isOfInstances, verbOf } from './verbs.ts'

type Batch = BatchBody & {
  readonly concurrency?: number
  readonly canary?: number
  readonly stop_after_failures?: number
  readonly message?: string
  readonly revision?: string
}

export function batchName({ action, total }: BatchBody): string {
  const [one, many] = isOfInstances(action) ? ['instance', 'instances'] : ['operation', 'operations']
  return `${verbOf(action).words}: ${total.toLocaleString()} ${total === 1 ? one : many}`
}

export function BatchState({ of: state }: { readonly of: string }) {
  return state === 'planned' ? <Tone tone="calm">dry run</Tone> : <State of={state} />
}

const isOpen = ({ state }: BatchBody) => state === 'running' || state === 'stopping'

export function BatchPage({ id }: { readonly id: string }) {
  const path = toPath('admin', 'batches', id)
  const [open, setOpen] = useState(true)
  const shown = useResource<Batch>(path, open ? { every: 1_000 } : {})
  if (shown.data !== undefined && open !== isOpen(shown.data)) setOpen(!open)
  return (
    <Loaded from={shown}>
      {batch => (
        <>
          <Head
            name={batchName(batch)}
            title={
              <>
                <span class="crumb">
                  <Link to="batches">Batches</Link> · by {batch.by}
                </span>
                {batchName(batch)}
              </>
            }
          >
            <BatchState of={batch.state} />
            <Decide batch={batch} reload={shown.reload} />
          </Head>
          <Progress batch={batch} />
          {/* A dry run that is begun has outcomes where it had verdicts. */}
          <Items key={batch.state === 'planned'} batch={batch} />
          <About batch={batch} />
        </>
      )}
    </Loaded>
  )
}

/** Begins what was only tried out, or stops what runs. */
function Decide({ batch, reload }: { readonly batch: Batch; reload(): void }) {
  const [asked, setAsked] = useState<Asked | undefined>()
  const { id, state, action } = batch
  const { words, role, danger = false } = verbOf(action)
  const begin: Asked = {
    title: batchName(batch),
    about: <p>It was a dry run so far. Each item is decided again when its turn comes.</p>,
    verb: words,
    danger,
    noReason: true,
    act: async () => {
      await post('admin/batches', { token: id })
      reload()
    },
  }
  const stop: Asked = {
    title: `Stop: ${batchName(batch)}`,
    about: <p>No other item is begun. What was done stays done.</p>,
    verb: 'Stop',
    danger: true,
    act: async reason => {
      await post(toPath('admin', 'batches', id, 'stop'), reason === '' ? {} : { reason })
      toast('It begins no other item.')
      reload()
    },
  }
  const choice = state === 'planned' ? begin : state === 'running' ? stop : undefined
  const needed = state === 'planned' ? role : 'operator'
  const why = may(needed) ? undefined : `This needs the role ${needed}.`
  return (
    <>
      {choice !== undefined && (
        <button type="button" disabled={why !== undefined} title={why} onClick={() => setAsked(choice)}>
          {choice.verb}
        </button>
      )}
      <ReasonDialog asked={asked} onClose={() => setAsked(undefined)} />
    </>
  )
}

const tones: Readonly<Record<string, string>> = { done: 'good', stopped: 'warn', planned: 'calm' }

function Progress({ batch }: { readonly batch: Batch }) {
  const { state, total, done = 0, refused = 0, left = total, why } = batch
  const [ended, all] = [(total - left).toLocaleString(), total.toLocaleString()]
  return (
    <div class={`note stack ${tones[state] ?? ''}`}>
      <p class="sentence">
        {state === 'planned'
          ? 'A dry run: nothing was changed. It can be begun for an hour.'
          : `${ended} of ${all} ended: ${done.toLocaleString()} done, ${refused.toLocaleString()} refused.`}
        {why !== undefined && ` ${why}`}
      </p>
      {state !== 'planned' && (
        <progress max={Math.max(1, total)} value={total - left} aria-label={`${ended} of ${all} ended`} />
      )}
    </div>
  )
}

const columnsOf = (action: string): readonly Column<BatchItemBody>[] => [
  {
    title: isOfInstances(action) ? 'Instance' : 'Operation',
    width: 'minmax(130px, 1fr)',
    cell: ({ id }) => (isOfInstances(action) ? <InstanceLink id={id} /> : <OperationLink id={id} />),
  },
  { title: 'Outcome', width: '122px', cell: item => <VerdictOf item={item} /> },
  {
    title: 'What came of it',
    width: 'minmax(130px, 1fr)',
    wide: true,
    cell: ({ operation }) =>
      operation === undefined ? <span class="muted">–</span> : <OperationLink id={operation} />,
  },
  {
    title: 'Why',
    width: 'minmax(120px, 2fr)',
    wide: true,
    cell: ({ detail, reason }) => {
      const words = detail ?? reason
      return <span title={words}>{words ?? <span class="muted">–</span>}</span>
    },
  },
]

function Items({ batch }: { readonly batch: Batch }) {
  const [onlyRefused, setOnlyRefused] = useState(false)
  const { id, action, refused = 0 } = batch
  const path = `${toPath('admin', 'batches', id, 'items')}?limit=${itemsAtOnce}${onlyRefused ? '&outcome=refused' : ''}`
  const pages = useBatchItems(path, isOpen(batch))
  return (
    <Section
      title="Items"
      aside={
        (refused > 0 || onlyRefused) && (
          <label class="check small">
            <input
              type="checkbox"
              checked={onlyRefused}
              onChange={event => setOnlyRefused(event.currentTarget.checked)}
            />
            Only refused
          </label>
        )
      }
    >
      <PagedTable
        label="Items"
        pages={pages}
        columns={columnsOf(action)}
        keyOf={({ id: item }) => item}
        empty={<Empty title={onlyRefused ? 'None was refused so far' : 'It has no items'} />}
      />
    </Section>
  )
}

function About({ batch }: { readonly batch: Batch }) {
  const {
    reason,
    created_at,
    started_at,
    finished_at,
    concurrency,
    canary = 0,
    stop_after_failures,
    planned_by,
    ...own
  } = batch
  return (
    <Section title="About">
      <Facts
        of={[
          ['Why', reason],
          planned_by === undefined ? undefined : ['Dry run by', planned_by],
          own.message === undefined ? undefined : ['What platforms are told', own.message],
          own.revision === undefined ? undefined : ['Revision', <code class="id">{own.revision}</code>],
          ['Asked for', <Time at={created_at} />],
          ['Begun', <Time at={started_at} />],
          ['Ended', <Time at={finished_at} />],
          ['At a time', concurrency],
          canary === 0 ? undefined : ['First, one by one', canary],
          stop_after_failures === undefined ? undefined : ['Stops after refusals', stop_after_failures],
        ]}
      />
    </Section>
  )
}
