import { useMemo, useState } from 'preact/hooks'
import { ApiError } from '../api/client.ts'
import { type Plan, type Service, useCatalog } from '../catalog.ts'
import { initialOf, problemsOf } from '../form/schema.ts'
import { SchemaForm } from '../form/schema-form.tsx'
import { provision } from '../osb.ts'
import { Link, navigate, toPath } from '../router.tsx'
import { mayTry } from '../session.tsx'
import { Empty, Head, Loaded, Section } from '../ui/basics.tsx'
import { toast } from '../ui/toasts.tsx'
import { NoPlatform } from './try-it.tsx'

export function TryService({ id }: { readonly id: string }) {
  return (
    <Loaded from={useCatalog()}>{({ services }) => <Tried service={services.find(each => each.id === id)} />}</Loaded>
  )
}

function Tried({ service }: { readonly service: Service | undefined }) {
  if (service === undefined)
    return (
      <Empty title="Nothing of this id is offered">
        <Link to="try">See what is</Link>
      </Empty>
    )
  return (
    <>
      <Head
        name={`Provision ${service.name}`}
        title={
          <>
            <span class="crumb">
              <Link to="try">Try it</Link>
            </span>
            Provision {service.metadata?.displayName ?? service.name}
          </>
        }
        about={service.description}
      />
      {!mayTry.value && <NoPlatform />}
      <ProvisionForm service={service} />
    </>
  )
}

/** Short, and unlike any other of this user. */
export function newId(prefix: string): string {
  const random = crypto.getRandomValues(new Uint8Array(4))
  return `${prefix}-${[...random].map(byte => byte.toString(16).padStart(2, '0')).join('')}`
}

function ProvisionForm({ service }: { readonly service: Service }) {
  const [plan, setPlan] = useState<Plan | undefined>(service.plans[0])
  const schema = plan?.schemas?.service_instance?.create?.parameters
  const [id, setId] = useState(() => newId(service.name))
  const start = useMemo(() => (schema === undefined ? {} : (initialOf(schema) ?? {})), [plan?.id])
  const [given, setGiven] = useState<{ plan?: string; value?: unknown }>({})
  const parameters = given.plan === plan?.id ? (given.value ?? {}) : start
  const [broken, setBroken] = useState(false)
  const [busy, setBusy] = useState(false)
  const [problem, setProblem] = useState<string | undefined>()
  const fits = schema === undefined || problemsOf(schema, parameters).length === 0
  const submit = async (event: SubmitEvent) => {
    event.preventDefault()
    if (plan === undefined) return
    setBusy(true)
    setProblem(undefined)
    try {
      const { status, body } = await provision({ id, service_id: service.id, plan_id: plan.id }, parameters as object)
      toast(status === 202 ? 'Accepted: it is being created.' : 'It is there.')
      navigate(body.operation === undefined ? toPath('instances', id) : toPath('operations', body.operation))
    } catch (error) {
      setProblem(error instanceof ApiError ? error.message : String(error))
    } finally {
      setBusy(false)
    }
  }
  return (
    <Section title="Instance">
      <form class="stack" noValidate onSubmit={submit}>
        <div class="grid-2">
          <label>
            Id
            <input value={id} required spellcheck={false} onInput={event => setId(event.currentTarget.value)} />
          </label>
          <label>
            Plan
            <select
              value={plan?.id ?? ''}
              onChange={event => setPlan(service.plans.find(each => each.id === event.currentTarget.value))}
            >
              {service.plans.map(each => (
                <option key={each.id} value={each.id}>
                  {each.name}: {each.description}
                </option>
              ))}
            </select>
          </label>
        </div>
        <SchemaForm
          key={plan?.id}
          schema={schema}
          value={parameters}
          onChange={value => setGiven({ ...(plan === undefined ? {} : { plan: plan.id }), value })}
          onBroken={setBroken}
        />
        {problem !== undefined && (
          <p class="problem" role="alert">
            {problem}
          </p>
        )}
        <p class="actions">
          <button type="submit" class="primary" disabled={busy || broken || !fits || id === '' || !mayTry.value}>
            {busy ? 'Sending …' : 'Provision'}
          </button>
        </p>
      </form>
    </Section>
  )
}
