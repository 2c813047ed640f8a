import { useState } from 'preact/hooks'
import { ApiError, post } from '../api/client.ts'
import type { OperationBody } from '../api/types.ts'
import { toPath } from '../router.tsx'
import { may } from '../session.tsx'
import { type Asked, ReasonDialog } from '../ui/reason-dialog.tsx'
import { toast } from '../ui/toasts.tsx'

interface BulkProps {
  readonly operations: readonly OperationBody[]
  clear(): void
  done(): void
}

const verbs: readonly (readonly [string, string])[] = [
  ['retry', 'Try again'],
  ['run-now', 'Run now'],
  ['cancel', 'Cancel'],
]

/** The same verb for each that is selected. One that is refused does not keep the others from being done. */
export function BulkBar({ operations, clear, done }: BulkProps) {
  const [asked, setAsked] = useState<Asked | undefined>()
  const ask = (verb: string, words: string) =>
    setAsked({
      title: `${words}: ${operations.length} selected`,
      about: <p>The broker decides about each of them; those that it refuses are counted.</p>,
      verb: words,
      danger: verb === 'cancel',
      act: async reason => {
        const { accepted, refused } = await actOnAll(operations, verb, reason)
        toast(
          `${accepted} accepted${refused.length > 0 ? `, ${refused.length} refused: ${refused[0]}` : ''}.`,
          refused.length > 0 ? 'bad' : 'calm',
        )
        clear()
        done()
      },
    })
  return (
    <section class="bulk" aria-label="What is selected">
      <strong>{operations.length} selected</strong>
      <span class="grow" />
      {verbs.map(([verb, words]) => (
        <button
          key={verb}
          type="button"
          disabled={!may('operator')}
          title={may('operator') ? undefined : 'This needs the role operator'}
          onClick={() => ask(verb, words)}
        >
          {words}
        </button>
      ))}
      <button type="button" class="quiet" onClick={clear}>
        Clear
      </button>
      <ReasonDialog asked={asked} onClose={() => setAsked(undefined)} />
    </section>
  )
}

async function actOnAll(operations: readonly OperationBody[], verb: string, reason: string) {
  const refused: string[] = []
  let accepted = 0
  for (const { id } of operations) {
    try {
      await post(toPath('admin', 'operations', id, verb), reason === '' ? {} : { reason })
      accepted += 1
    } catch (error) {
      refused.push(error instanceof ApiError ? error.message : String(error))
    }
  }
  return { accepted, refused }
}
