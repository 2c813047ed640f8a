import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { toApiError } from '../api/client.ts'

interface SendingFormProps {
  /** What the button says. */
  readonly verb: string
  readonly danger?: boolean | undefined
  readonly disabled?: boolean
  /** The browser does not look at the fields: who shows them tells what is wrong. */
  readonly noValidate?: boolean
  readonly children: ComponentChildren
  send(given: FormData): Promise<void>
  /** It was sent. */
  done(): void
  /** It is not sent; the same as `done` if it is absent. */
  leave?(): void
}

/** A form of a dialog that is sent once, and says what the broker answered where it refuses. */
export function SendingForm({ verb, danger, disabled = false, noValidate, children, ...acts }: SendingFormProps) {
  const { send, done, leave = done } = acts
  const [busy, setBusy] = useState(false)
  const [problem, setProblem] = useState<string | undefined>()
  const submit = async (event: SubmitEvent) => {
    event.preventDefault()
    const given = new FormData(event.currentTarget as HTMLFormElement)
    setBusy(true)
    setProblem(undefined)
    try {
      await send(given)
      done()
    } catch (error) {
      setProblem(toApiError(error).message)
    } finally {
      setBusy(false)
    }
  }
  return (
    <form class="stack" noValidate={noValidate} onSubmit={submit}>
      {children}
      {problem !== undefined && (
        <p class="problem" role="alert">
          {problem}
        </p>
      )}
      <footer class="dialog-foot">
        <button type="button" onClick={leave}>
          Leave it
        </button>
        <button type="submit" class={danger ? 'danger' : 'primary'} disabled={busy || disabled}>
          {busy ? 'Sending …' : verb}
        </button>
      </footer>
    </form>
  )
}
