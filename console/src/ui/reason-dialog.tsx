import type { ComponentChildren } from 'preact'
import { Dialog } from './basics.tsx'
import { SendingForm } from './sending-form.tsx'

export interface Asked {
  readonly title: string
  readonly about: ComponentChildren
  /** What the button says. */
  readonly verb: string
  readonly danger?: boolean
  /** Whether the broker wants a reason. */
  readonly needsReason?: boolean
  /** Nothing is asked: the reason was given before. */
  readonly noReason?: boolean
  /** Further fields, by name. */
  readonly fields?: ComponentChildren
  act(reason: string, given: FormData): Promise<void>
}

/** Asks for the reason, which stays in the history, before something is done. */
export function ReasonDialog({ asked, onClose }: { readonly asked: Asked | undefined; readonly onClose: () => void }) {
  return (
    <Dialog title={asked?.title ?? ''} open={asked !== undefined} onClose={onClose}>
      {asked !== undefined && (
        <SendingForm
          verb={asked.verb}
          danger={asked.danger}
          send={given => asked.act(String(given.get('reason') ?? '').trim(), given)}
          done={onClose}
        >
          <div class="dialog-about">{asked.about}</div>
          {asked.fields}
          {!asked.noReason && (
            <label>
              Reason{asked.needsReason ? '' : ' (may be left out)'}
              <textarea
                name="reason"
                rows={2}
                maxLength={1000}
                required={asked.needsReason}
                autofocus
                placeholder="It stays in the history"
              />
            </label>
          )}
        </SendingForm>
      )}
    </Dialog>
  )
}
