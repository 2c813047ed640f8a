import { useState } from 'preact/hooks'
import { call } from '../api/client.ts'
import { useResource } from '../api/resource.ts'
import type { GateBody } from '../api/types.ts'
import { planName, serviceName, services, useCatalog } from '../catalog.ts'
import { toPath } from '../router.tsx'
import { may } from '../session.tsx'
import { Empty, Head, Loaded, Section, Tone } from '../ui/basics.tsx'
import { type Asked, ReasonDialog } from '../ui/reason-dialog.tsx'
import { Time } from '../ui/time.tsx'
import { toast } from '../ui/toasts.tsx'

const actions = [
  ['new', 'All that is new: provision, update and bind'],
  ['provision', 'Provision'],
  ['update', 'Update'],
  ['bind', 'Bind'],
  ['deprovision', 'Deprovision'],
  ['unbind', 'Unbind'],
] as const

export function Gates() {
  useCatalog()
  const gates = useResource<{ gates: readonly GateBody[] }>('admin/gates', { every: 5_000 })
  const [asked, setAsked] = useState<Asked | undefined>()
  const why = may('operator') ? undefined : 'This needs the role operator.'
  const close: Asked = {
    title: 'Close a gate',
    about: <p>New requests are refused on all replicas. What was accepted goes on.</p>,
    verb: 'Close it',
    danger: true,
    fields: <GateFields />,
    act: async (reason, given) => {
      const { action, body } = readFields(given)
      await call(toPath('admin', 'gates', action), { method: 'PUT', body: { ...body, ...(reason && { reason }) } })
      gates.reload()
    },
  }
  const open = (gate: GateBody): Asked => ({
    title: `Open: ${nameOf(gate)}`,
    about: <p>Platforms can ask for it again from now on.</p>,
    verb: 'Open',
    act: async reason => {
      const { action, service_id = '', plan_id = '' } = gate
      const query = new URLSearchParams({ service_id, plan_id, reason })
      await call(`${toPath('admin', 'gates', action)}?${query}`, { method: 'DELETE' })
      toast('It is open.')
      gates.reload()
    },
  })
  return (
    <>
      <Head title="Gates" about="What platforms are refused for a while, such as during maintenance.">
        <button type="button" class="primary" disabled={why !== undefined} title={why} onClick={() => setAsked(close)}>
          Close a gate
        </button>
      </Head>
      <Section title="Closed now">
        <Loaded from={gates}>
          {({ gates: all }) =>
            all.length === 0 ? (
              <Empty title="All gates are open">Close one, and platforms are told your text until it is opened.</Empty>
            ) : (
              <ul class="lines">
                {all.map(gate => (
                  <li key={nameOf(gate)}>
                    <span class="what">
                      <p>
                        <strong>{nameOf(gate)}</strong>
                      </p>
                      <p class="small">{gate.message}</p>
                      <p class="small muted">
                        by {gate.by}, <Time at={gate.since} />
                        {gate.reason !== undefined && `: ${gate.reason}`}
                      </p>
                    </span>
                    <Tone tone="warn">
                      {gate.retry_after === undefined ? 'refused' : `again after ${gate.retry_after} s`}
                    </Tone>
                    <button type="button" disabled={why !== undefined} title={why} onClick={() => setAsked(open(gate))}>
                      Open
                    </button>
                  </li>
                ))}
              </ul>
            )
          }
        </Loaded>
      </Section>
      <ReasonDialog asked={asked} onClose={() => setAsked(undefined)} />
    </>
  )
}

function nameOf({ action, service_id, plan_id }: GateBody): string {
  const words = actions.find(([name]) => name === action)?.[1] ?? action
  if (service_id === undefined) return words
  const plan = plan_id === undefined ? '' : `, ${planName(service_id, plan_id)}`
  return `${words}: ${serviceName(service_id)}${plan}`
}

function GateFields() {
  const [service, setService] = useState('')
  const plans = services.value?.find(({ id }) => id === service)?.plans ?? []
  return (
    <>
      <label>
        What is refused
        <select name="action">
          {actions.map(([name, words]) => (
            <option key={name} value={name}>
              {words}
            </option>
          ))}
        </select>
      </label>
      <label>
        Of the service
        <select name="service_id" value={service} onChange={event => setService(event.currentTarget.value)}>
          <option value="">All services</option>
          {services.value?.map(({ id, name }) => (
            <option key={id} value={id}>
              {name}
            </option>
          ))}
        </select>
      </label>
      {plans.length > 0 && (
        <label>
          Of the plan
          <select name="plan_id">
            <option value="">All plans</option>
            {plans.map(({ id, name }) => (
              <option key={id} value={id}>
                {name}
              </option>
            ))}
          </select>
        </label>
      )}
      <label>
        What platforms are told
        <textarea name="message" rows={2} maxLength={1000} required />
      </label>
      <label>
        Ask again after, in seconds (empty: the request has failed)
        <input name="retry_after" type="number" min={1} max={86_400} />
      </label>
    </>
  )
}

/** What is left empty is not sent. */
function readFields(given: FormData) {
  const texts = ['service_id', 'plan_id', 'message'].flatMap(name => {
    const value = String(given.get(name) ?? '').trim()
    return value === '' ? [] : [[name, value] as const]
  })
  const seconds = Number(given.get('retry_after') ?? 0)
  return {
    action: String(given.get('action')),
    body: { ...Object.fromEntries(texts), ...(seconds > 0 && { retry_after: seconds }) },
  }
}
