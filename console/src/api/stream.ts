import { useEffect, useRef, useState } from 'preact/hooks'
import { send, signIns } from './client.ts'

/**
 * Server-sent events, read by `fetch`: a browser's own reader would ask for a password by its own dialog. Comes back after a
 * lost connection and asks for what it has missed. Answers whether the connection stands; `undefined` is not listened to.
 * A page that nobody sees has none: a browser gives a broker six connections, and tabs that keep one each would use them up.
 */
export function useStream(path: string | undefined, onEvent: (event: string) => void): boolean {
  const [connected, setConnected] = useState(false)
  const listener = useRef(onEvent)
  listener.current = onEvent
  const turn = signIns.value
  useEffect(() => {
    if (path === undefined) return undefined
    const place = { lastId: '' }
    let ending = new AbortController()
    const stop = () => {
      ending.abort()
      setConnected(false)
    }
    const start = () => {
      if (document.visibilityState !== 'visible') return stop()
      ending.abort()
      ending = new AbortController()
      void follow({ path, place, ending: ending.signal, onEvent: event => listener.current(event), setConnected })
    }
    start()
    document.addEventListener('visibilitychange', start)
    return () => {
      document.removeEventListener('visibilitychange', start)
      stop()
    }
  }, [path, turn])
  return connected
}

interface Following {
  readonly path: string
  /** What was heard last. */
  readonly place: { lastId: string }
  readonly ending: AbortSignal
  onEvent(event: string): void
  setConnected(connected: boolean): void
}

async function follow({ path, place, ending, onEvent, setConnected }: Following): Promise<void> {
  while (!ending.aborted) {
    try {
      const headers: Record<string, string> = { Accept: 'text/event-stream' }
      if (place.lastId !== '') headers['Last-Event-ID'] = place.lastId
      const response = await send(path, { headers, signal: ending })
      if (isOver(response)) return
      if (response.ok && response.body !== null) {
        setConnected(true)
        for await (const { event, id } of eventsOf(response.body)) {
          if (id !== undefined) place.lastId = id
          onEvent(event)
          if (event === 'end') return
        }
      }
    } catch {
      // The broker is not there, or another page was opened.
    }
    if (ending.aborted) return
    setConnected(false)
    onEvent('lost')
    await new Promise(resolve => setTimeout(resolve, 1_000))
  }
}

/** All was told, or it is refused for a reason that does not pass by itself. */
function isOver({ status }: Response): boolean {
  return status === 204 || (status >= 400 && status < 500 && status !== 429)
}

/** Only their names and ids: what has changed is asked for as a whole. */
async function* eventsOf(body: ReadableStream<Uint8Array>): AsyncGenerator<{ event: string; id: string | undefined }> {
  const reader = body.pipeThrough(new TextDecoderStream() as ReadableWritablePair<string, Uint8Array>).getReader()
  let text = ''
  while (true) {
    const { done, value } = await reader.read()
    if (done) return
    text += value
    const blocks = text.split('\n\n')
    text = blocks.pop() ?? ''
    for (const block of blocks) {
      const field = (name: string) => new RegExp(`^${name}: ?(.*)$`, 'm').exec(block)?.[1]
      if (field('data') !== undefined) yield { event: field('event') ?? 'message', id: field('id') }
    }
  }
}

/** Calls back soon after the first of many calls, and not more often than every `ms`. */
export function useSoon(callback: () => void, ms: number): () => void {
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined)
  const latest = useRef(callback)
  latest.current = callback
  useEffect(() => () => clearTimeout(timer.current), [])
  return () => {
    timer.current ??= setTimeout(() => {
      timer.current = undefined
      latest.current()
    }, ms)
  }
}
