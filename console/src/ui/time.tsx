import { signal } from '@preact/signals'

/** Ticks once a second for everything that shows how long ago something was. */
export const now = signal(Date.now())
setInterval(() => {
  if (document.visibilityState === 'visible') now.value = Date.now()
}, 1_000)

const units: readonly (readonly [string, number])[] = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['min', 60_000],
  ['s', 1_000],
]

/** Such as `3 min 20 s`: the two largest units. */
export function duration(ms: number): string {
  if (ms < 1_000) return `${Math.max(0, Math.round(ms))} ms`
  const at = units.findIndex(([, size]) => ms >= size)
  const [name, size] = units[at] ?? ['s', 1_000]
  const whole = Math.floor(ms / size)
  const next = units[at + 1]
  const rest = next === undefined ? 0 : Math.floor((ms - whole * size) / next[1])
  const isShort = name === 's' && ms < 10_000
  if (isShort) return `${(ms / 1_000).toFixed(1)} s`
  return rest === 0 || next === undefined ? `${whole} ${name}` : `${whole} ${name} ${rest} ${next[0]}`
}

/** How long ago, or in how long, by the largest unit. */
export function relative(ms: number, at = now.value): string {
  const away = Math.abs(at - ms)
  if (away < 1_500) return 'now'
  const [name, size] = units.find(([, each]) => away >= each) ?? ['s', 1_000]
  const words = `${Math.floor(away / size)} ${name}`
  return ms > at ? `in ${words}` : `${words} ago`
}

/** The time in the reader's own zone is a look away. */
export function Time({ at }: { readonly at: string | undefined }) {
  if (at === undefined) return <span class="muted">–</span>
  const ms = Date.parse(at)
  return (
    <time dateTime={at} title={new Date(ms).toLocaleString(undefined, { dateStyle: 'medium', timeStyle: 'medium' })}>
      {relative(ms)}
    </time>
  )
}

export function clockTime(ms: number): string {
  return new Date(ms).toLocaleTimeString(undefined, { hour12: false })
}
