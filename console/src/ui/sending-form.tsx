import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { ApiError } from '../api/client.ts'

interface SendingFormProps {
  /** What the button says. */
  readonly verb: string
  readonly danger?: boolean | undefined
  readonly disabled?: boolean
  /** The browser does not look at the fields: who shows them tells what is wrong. */
  readonly noValidate?: boolean
  readonly children: ComponentChildren
  send(given: FormData): Promise<void>
  done(): void
}

/** A form of a dialog that is sent once, and says what the broker answered where it refuses. */
export function SendingForm({ verb, danger, disabled = false, noValidate, children, send, done }: SendingFormProps) {
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
      setProblem(error instanceof ApiError ? error.message : String(error))
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
        <button type="button" onClick={done}>
          Leave it
        </button>
        <button type="submit" class={danger ? 'danger' : 'primary'} disabled={busy || disabled}>
          {busy ? 'Sending …' : verb}
        </button>
      </footer>
    </form>
  )
}
