import { useEffect, useState } from 'preact/hooks'
import { get, mayPass, pauseAfterFailure, toApiError } from './client.ts'
import { nextPath, type Pages, usePages } from './resource.ts'
import type { BatchItemBody, ListBody } from './types.ts'

/** How many items one request asks for. */
export const itemsAtOnce = 200

/**
 * The items of a batch, as they come to their end. They never change their place and are done in their order, so what was loaded
 * is kept, and only the page of the first one that waits is asked for again.
 */
export function useBatchItems(path: string, isOpen: boolean): Pages<BatchItemBody> {
  const pages = usePages<BatchItemBody>(path)
  const [later, setLater] = useState<ReadonlyMap<string, BatchItemBody>>(new Map())
  const items = pages.items.map(item => later.get(item.id) ?? item)
  const open = items.findIndex(({ outcome }) => outcome === 'pending')
  const from = open < 0 ? undefined : Math.floor(open / itemsAtOnce) * itemsAtOnce
  useEffect(() => {
    if (from === undefined) return undefined
    const ending = new AbortController()
    let timer: ReturnType<typeof setTimeout> | undefined
    const ask = async () => {
      try {
        const wanted = from === 0 ? path : nextPath(path, String(from))
        const { items: some = [] } = await get<ListBody<BatchItemBody>>(wanted, ending.signal)
        setLater(before => new Map([...before, ...some.map(item => [item.id, item] as const)]))
        if (isOpen) timer = setTimeout(ask, 1_000)
      } catch (error) {
        if (!ending.signal.aborted && mayPass(toApiError(error))) timer = setTimeout(ask, pauseAfterFailure)
      }
    }
    void ask()
    return () => {
      ending.abort()
      clearTimeout(timer)
    }
  }, [path, from, isOpen])
  return { ...pages, items }
}
