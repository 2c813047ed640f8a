import type { ComponentChildren } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { post } from '../api/client.ts'
import type { BatchBody, BatchItemBody, BatchOrderBody } from '../api/types.ts'
import { navigate, toPath } from '../router.tsx'
import { Dialog, ShortId, Tone, WideTable } from '../ui/basics.tsx'
import { SendingForm } from '../ui/sending-form.tsx'
import { isOfInstances, verbOf } from './verbs.ts'

export interface AskedBatch {
  readonly verb: string
  /** The ids, or the filter. */
  readonly target: BatchOrderBody
  /** What was chosen, in words. */
  readonly about: string
}

interface BatchDialogProps {
  /** Undefined: it is closed. */
  readonly asked: AskedBatch | undefined
  onClose(): void
}

/** First what and why; then the broker says of each what it would answer; then it is done, and followed on a page of its own. */
export function BatchDialog({ asked, onClose }: BatchDialogProps) {
  const [plan, setPlan] = useState<BatchBody | undefined>()
  useEffect(() => setPlan(undefined), [asked])
  const title = asked && `${verbOf(asked.verb).words}: ${asked.about.charAt(0).toLowerCase()}${asked.about.slice(1)}`
  return (
    <Dialog title={title ?? ''} open={asked !== undefined} onClose={onClose} wide>
      {asked !== undefined &&
        (plan === undefined ? (
          <OrderForm
            verb={asked.verb}
            send={async order => setPlan(await post<BatchBody>('admin/batches', { ...order, ...asked.target }))}
            leave={onClose}
          />
        ) : (
          <Verdicts verb={asked.verb} plan={plan} close={onClose} />
        ))}
    </Dialog>
  )
}

interface OrderFormProps {
  readonly verb: string
  send(order: BatchOrderBody): Promise<void>
  leave(): void
}

function OrderForm({ verb, send, leave }: OrderFormProps) {
  const { about } = verbOf(verb)
  return (
    <SendingForm verb="Check each of them" send={given => send(toOrder(verb, given))} done={() => {}} leave={leave}>
      <p>{about}</p>
      {ownFields[verb]}
      <label>
        Reason
        <textarea
          name="reason"
          rows={2}
          maxLength={1000}
          required
          autofocus
          placeholder="It stays in the history of each"
        />
      </label>
      <details>
        <summary>How it is done</summary>
        <div class="grid-3">
          <NumberField name="concurrency" label="At a time" min={1} max={32} value={4} />
          <NumberField name="canary" label="First, one by one" min={0} max={10_000} value={0} />
          <NumberField name="stop_after_failures" label="Stop after refusals" min={1} max={10_000} />
        </div>
        <p class="help">What the first ones begin has to succeed before the others are begun.</p>
      </details>
      <p class="small muted">Nothing is changed yet: the broker says first what it would do with each of them.</p>
    </SendingForm>
  )
}

/** What a verb needs to know, besides why. */
const ownFields: Readonly<Record<string, ComponentChildren>> = {
  fail: (
    <label>
      What the platforms show to their users
      <textarea name="message" rows={2} required maxLength={10_000} />
    </label>
  ),
  move: (
    <label>
      Revision
      <input name="revision" placeholder="The one that is offered now" spellcheck={false} />
    </label>
  ),
  abandon: (
    <label class="check">
      <input type="checkbox" name="bindings" /> Their bindings, too
    </label>
  ),
}

interface NumberFieldProps {
  readonly name: string
  readonly label: string
  readonly min: number
  readonly max: number
  readonly value?: number
}

function NumberField({ label, value, ...rest }: NumberFieldProps) {
  return (
    <label>
      {label}
      <input type="number" defaultValue={value === undefined ? '' : String(value)} {...rest} />
    </label>
  )
}

function toOrder(action: string, given: FormData): BatchOrderBody {
  const texts = ['reason', 'message', 'revision'].map(name => [name, String(given.get(name) ?? '').trim()] as const)
  const numbers = ['concurrency', 'canary', 'stop_after_failures'].map(name => [name, given.get(name)] as const)
  return {
    action,
    dry_run: true,
    ...Object.fromEntries(texts.filter(([, text]) => text !== '')),
    ...Object.fromEntries(numbers.filter(([, text]) => text !== '').map(([name, text]) => [name, Number(text)])),
    ...(given.get('bindings') === null ? {} : { bindings: true }),
  }
}

interface VerdictsProps {
  readonly verb: string
  readonly plan: BatchBody
  close(): void
}

function Verdicts({ verb, plan, close }: VerdictsProps) {
  const { token = plan.id, total, allowed = 0, refused = 0, items = [] } = plan
  const { words, danger = false } = verbOf(verb)
  const start = async () => {
    await post<BatchBody>('admin/batches', { token })
    navigate(toPath('batches', token))
  }
  const sorted = [...items].sort((one, other) => Number(one.allowed ?? false) - Number(other.allowed ?? false))
  return (
    <SendingForm
      verb={`${words}: ${allowed.toLocaleString()}`}
      danger={danger}
      disabled={allowed === 0}
      send={start}
      done={close}
    >
      <p class="sentence" role="status">
        {total === 0
          ? 'Nothing matches any more.'
          : `${total.toLocaleString()} ${total === 1 ? 'matches' : 'match'}: ${allowed.toLocaleString()} may be done, ${refused.toLocaleString()} would be refused.`}
      </p>
      {items.length > 0 && (
        <div class="verdicts">
          <WideTable label="What would be answered" columns={['Item', 'Verdict', 'Why']}>
            {sorted.map(item => (
              <tr key={item.id}>
                <td>
                  <ShortId id={item.id} tail={!isOfInstances(verb)} />
                </td>
                <td>
                  <VerdictOf item={item} />
                </td>
                <td>{item.reason ?? <span class="muted">–</span>}</td>
              </tr>
            ))}
          </WideTable>
        </div>
      )}
      <p class="small muted">
        {items.length < total && `These are the first ${items.length} of them. `}
        Each is decided again when its turn comes. The set stays as it is here, for an hour.
      </p>
    </SendingForm>
  )
}

/** Of a dry run: what would be answered. Else: how it ended. */
export function VerdictOf({ item: { allowed, outcome } }: { readonly item: BatchItemBody }) {
  if (allowed !== undefined) return <Tone tone={allowed ? 'good' : 'bad'}>{allowed ? 'may be done' : 'refused'}</Tone>
  if (outcome === 'done') return <Tone tone="good">done</Tone>
  return outcome === 'refused' ? <Tone tone="bad">refused</Tone> : <Tone tone="calm">waits</Tone>
}
