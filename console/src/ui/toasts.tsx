import { signal } from '@preact/signals'

const messages = signal<readonly { readonly id: number; readonly text: string; readonly tone: string }[]>([])
let latest = 0

export function toast(text: string, tone = 'calm'): void {
  latest += 1
  const id = latest
  messages.value = [...messages.value.slice(-3), { id, text, tone }]
  setTimeout(
    () => {
      messages.value = messages.value.filter(message => message.id !== id)
    },
    tone === 'bad' ? 12_000 : 5_000,
  )
}

export function Toasts() {
  return (
    <div class="toasts" role="status" aria-live="polite">
      {messages.value.map(({ id, text, tone }) => (
        <p key={id} class={`toast ${tone}`}>
          {text}
        </p>
      ))}
    </div>
  )
}
