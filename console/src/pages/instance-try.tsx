import { useState } from 'preact/hooks'
import { ApiError } from '../api/client.ts'
import type { BindingBody } from '../api/types.ts'
import { services } from '../catalog.ts'
import { initialOf, problemsOf, type Schema } from '../form/schema.ts'
import { SchemaForm } from '../form/schema-form.tsx'
import { bind, deprovision, fetchBinding, unbind, update } from '../osb.ts'
import { Link, toPath } from '../router.tsx'
import { mayTry, me } from '../session.tsx'
import { Copy, Dialog, State } from '../ui/basics.tsx'
import { SendingForm } from '../ui/sending-form.tsx'
import { Time } from '../ui/time.tsx'
import { toast } from '../ui/toasts.tsx'
import type { ShownInstance } from './instance.tsx'
import { newId } from './try-service.tsx'

interface Props {
  readonly instance: ShownInstance
  reload(): void
}

/** What a platform could do with it: only where this user stands for the platform that it belongs to. */
function isOwn({ platform }: ShownInstance): boolean {
  return mayTry.value && platform === me.value?.platform
}

export function InstanceTryActions({ instance, reload }: Props) {
  const [open, setOpen] = useState<'bind' | 'update' | 'deprovision' | undefined>()
  if (!isOwn(instance) || instance.phase === 'deleted') return null
  const service = services.value?.find(({ id }) => id === instance.service_id)
  const plan = service?.plans.find(({ id }) => id === instance.plan_id)
  const isBindable = plan?.bindable ?? service?.bindable ?? true
  const close = () => {
    setOpen(undefined)
    reload()
  }
  return (
    <div class="actions">
      {isBindable && (
        <button type="button" class="primary" disabled={instance.phase !== 'ready'} onClick={() => setOpen('bind')}>
          Bind
        </button>
      )}
      <button type="button" disabled={instance.phase !== 'ready'} onClick={() => setOpen('update')}>
        Update
      </button>
      <button type="button" onClick={() => setOpen('deprovision')}>
        Deprovision
      </button>
      <Dialog title={`Bind ${instance.id}`} open={open === 'bind'} onClose={close}>
        <BindForm instance={instance} schema={plan?.schemas?.service_binding?.create?.parameters} done={close} />
      </Dialog>
      <Dialog title={`Update ${instance.id}`} open={open === 'update'} onClose={close}>
        <UpdateForm instance={instance} done={close} />
      </Dialog>
      <Dialog title={`Deprovision ${instance.id}`} open={open === 'deprovision'} onClose={close}>
        <SendingForm
          noValidate
          verb="Deprovision"
          danger
          done={close}
          send={async () => {
            const { status } = await deprovision(instance)
            toast(status === 202 ? 'Accepted: it is being deleted.' : 'It is deleted.')
          }}
        >
          <p>The platform’s DELETE: the service removes what it has made, and the instance is gone for good.</p>
        </SendingForm>
      </Dialog>
    </div>
  )
}

interface FormProps {
  readonly instance: ShownInstance
  readonly schema?: Schema | undefined
  done(): void
}

function useParameters(schema: Schema | undefined) {
  const [value, setValue] = useState<unknown>(() => (schema === undefined ? {} : (initialOf(schema) ?? {})))
  const [broken, setBroken] = useState(false)
  const fits = !broken && (schema === undefined || problemsOf(schema, value ?? {}).length === 0)
  return { value: (value ?? {}) as object, setValue, setBroken, fits }
}

function BindForm({ instance, schema, done }: FormProps) {
  const [id, setId] = useState(() => newId('binding'))
  const { value, setValue, setBroken, fits } = useParameters(schema)
  const send = async () => {
    const { status } = await bind(instance, id, value)
    toast(status === 202 ? 'Accepted: the binding is being made.' : 'The binding is there.')
  }
  return (
    <SendingForm noValidate verb="Bind" disabled={!fits || id === ''} send={send} done={done}>
      <label>
        Id of the binding
        <input value={id} required spellcheck={false} onInput={event => setId(event.currentTarget.value)} />
      </label>
      <SchemaForm schema={schema} value={value} onChange={setValue} onBroken={setBroken} />
    </SendingForm>
  )
}

function UpdateForm({ instance, done }: FormProps) {
  const service = services.value?.find(({ id }) => id === instance.service_id)
  const [planId, setPlanId] = useState(instance.plan_id)
  const schema = service?.plans.find(({ id }) => id === planId)?.schemas?.service_instance?.update?.parameters
  const [value, setValue] = useState<unknown>({})
  const [broken, setBroken] = useState(false)
  const send = async () => {
    const parameters = (value ?? {}) as object
    const { status } = await update(instance, {
      ...(planId === instance.plan_id ? {} : { plan_id: planId }),
      ...(Object.keys(parameters).length === 0 ? {} : { parameters }),
    })
    toast(status === 202 ? 'Accepted: it is being updated.' : 'It is updated.')
  }
  return (
    <SendingForm noValidate verb="Update" disabled={broken} send={send} done={done}>
      {service?.plan_updateable === true && (
        <label>
          Plan
          <select value={planId} onChange={event => setPlanId(event.currentTarget.value)}>
            {service.plans.map(({ id, name, description }) => (
              <option key={id} value={id}>
                {name}: {description}
              </option>
            ))}
          </select>
        </label>
      )}
      <SchemaForm key={planId} partial schema={schema} value={value} onChange={setValue} onBroken={setBroken} />
    </SendingForm>
  )
}

interface BindingProps extends Props {
  readonly binding: BindingBody
}

export function BindingLine({ instance, binding, reload }: BindingProps) {
  const [open, setOpen] = useState<'credentials' | 'unbind' | undefined>()
  const close = () => {
    setOpen(undefined)
    reload()
  }
  const own = isOwn(instance)
  return (
    <li>
      <span class="what">
        <p>
          <code class="id">{binding.id}</code>
        </p>
        <p class="small muted">
          made <Time at={binding.created_at} /> by{' '}
          <Link to={toPath('operations', binding.last_operation_id)}>this operation</Link>
        </p>
      </span>
      <State of={binding.phase} />
      {own && (
        <>
          <button type="button" disabled={binding.phase !== 'ready'} onClick={() => setOpen('credentials')}>
            Credentials
          </button>
          <button type="button" onClick={() => setOpen('unbind')}>
            Unbind
          </button>
          <Dialog title={`Credentials of ${binding.id}`} open={open === 'credentials'} onClose={close}>
            <Credentials instance={instance} bindingId={binding.id} />
          </Dialog>
          <Dialog title={`Unbind ${binding.id}`} open={open === 'unbind'} onClose={close}>
            <SendingForm
              noValidate
              verb="Unbind"
              danger
              done={close}
              send={async () => {
                const { status } = await unbind(instance, binding.id)
                toast(status === 202 ? 'Accepted: it is being removed.' : 'It is removed.')
              }}
            >
              <p>Its credentials stop working, also for the applications that use them.</p>
            </SendingForm>
          </Dialog>
        </>
      )}
    </li>
  )
}

/** On purpose only: nothing is asked for before the button, and nothing is kept after the dialog. */
function Credentials({ instance, bindingId }: { readonly instance: ShownInstance; readonly bindingId: string }) {
  const [shown, setShown] = useState<readonly (readonly [string, string])[] | undefined>()
  const [problem, setProblem] = useState<string | undefined>()
  const show = async () => {
    try {
      const { body } = await fetchBinding(instance, bindingId)
      const { credentials = {}, parameters: _asked, ...others } = body
      const entries = [...Object.entries(credentials), ...Object.entries(others)]
      setShown(entries.map(([name, value]) => [name, typeof value === 'string' ? value : JSON.stringify(value)]))
    } catch (error) {
      setProblem(error instanceof ApiError ? error.message : String(error))
    }
  }
  if (problem !== undefined)
    return (
      <p class="problem" role="alert">
        {problem}
      </p>
    )
  if (shown === undefined)
    return (
      <div class="stack">
        <p>They are shown once, until this window is closed. See that nobody looks over your shoulder.</p>
        <p>
          <button type="button" class="primary" onClick={() => void show()}>
            Show the credentials
          </button>
        </p>
      </div>
    )
  return (
    <dl class="secret">
      {shown.map(([name, value]) => (
        <>
          <dt key={`${name} name`}>{name}</dt>
          <dd key={name}>{value}</dd>
          <dd key={`${name} copy`}>
            <Copy text={value} what={name} />
          </dd>
        </>
      ))}
    </dl>
  )
}
