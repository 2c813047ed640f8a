import { useEffect, useRef, useState } from 'preact/hooks'
import { send, signIns } from './client.ts'

/**
 * Server-sent events, read by `fetch`: a browser's own reader would ask for a password by its own dialog. Comes back after a
 * lost connection and asks for what it has missed. Answers whether the connection stands; `undefined` is not listened to.
 */
export function useStream(path: string | undefined, onEvent: (event: string) => void): boolean {
  const [connected, setConnected] = useState(false)
  const listener = useRef(onEvent)
  listener.current = onEvent
  const turn = signIns.value
  useEffect(() => {
    if (path === undefined) return undefined
    const ending = new AbortController()
    void follow(path, ending.signal, event => listener.current(event), setConnected)
    return () => {
      ending.abort()
      setConnected(false)
    }
  }, [path, turn])
  return connected
}

async function follow(
  path: string,
  ending: AbortSignal,
  onEvent: (event: string) => void,
  setConnected: (connected: boolean) => void,
): Promise<void> {
  let lastId = ''
  while (!ending.aborted) {
    try {
      const headers: Record<string, string> = { Accept: 'text/event-stream' }
      if (lastId !== '') headers['Last-Event-ID'] = lastId
      const response = await send(path, { headers, signal: ending })
      if (response.status === 204 || response.status === 401) return
      if (response.ok && response.body !== null) {
        setConnected(true)
        for await (const { event, id } of eventsOf(response.body)) {
          if (id !== undefined) lastId = id
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
