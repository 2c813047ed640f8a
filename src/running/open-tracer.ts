import { createTracer, isListenedTo } from '../observer/traces.ts'
import type { Observer } from '../observer.ts'
import type { Runtime } from '../sandbox.ts'
import type { ReadSettings } from '../settings/settings.ts'
import type { Tracer } from '../tracer.ts'
import { StartError } from './start-error.ts'
import { wrapMethods } from './wrap-methods.ts'

/** Undefined where traces are off, and nothing is loaded; and where nobody would see them: spans cost every request something. */
export async function openTracer({ mode }: ReadSettings['traces'], observer: Observer): Promise<Tracer | undefined> {
  if (mode === 'off') return undefined
  const api = await loadApi(mode)
  if (isListenedTo(api)) return createTracer(api, mode === 'continuous')
  const message =
    `traces.mode is ${mode}, and this process has no SDK of OpenTelemetry, so there are no traces: ` +
    'register one before the broker starts, or set traces.mode to off'
  observer['configuration.warning']?.({ message })
  return undefined
}

async function loadApi(mode: string) {
  try {
    return await import('@opentelemetry/api')
  } catch (error) {
    throw new StartError(
      `traces.mode is ${mode}, and the package @opentelemetry/api cannot be loaded.`,
      error instanceof Error ? error.message : String(error),
      'Run "npm install @opentelemetry/api" and an SDK beside the broker, or set traces.mode to off.',
    )
  }
}

/** What asks the engine, or the cluster, once. Those that wait or look again and again have no span of their own. */
const traced: ReadonlySet<string> = new Set(['prepare', 'start', 'status', 'collect', 'cancel', 'remove'])

/** The same runtime, with a span for each call. */
export function traceRuntime(runtime: Runtime, tracer: Tracer): Runtime {
  return wrapMethods(runtime, (name, method) => {
    if (!traced.has(name)) return undefined
    return async (one, two, three) => {
      const attributes = { 'purser.runtime': runtime.type }
      const span = tracer.start({ name: `sandbox ${name}`, kind: 'client', attributes })
      try {
        const answer = await tracer.within(span, () => method(one, two, three))
        span.end()
        return answer
      } catch (error) {
        span.end({ error })
        throw error
      }
    }
  })
}
