import type { SandboxOutputs, SandboxStatus, Stop } from '../../sandbox.ts'

/** What the end of a sandbox means for its operation. Messages are for the platform's users. */
export type SandboxVerdict =
  | { readonly kind: 'succeeded' }
  /** The bundle has no such action. */
  | { readonly kind: 'not-implemented' }
  /** The bundle asks to be run once more, later; or it has not been run, and that may have been chance. */
  | { readonly kind: 'try-again'; readonly message: string }
  | { readonly kind: 'failed'; readonly message: string }

export type EndedSandbox = Extract<SandboxStatus, { readonly kind: 'exited' | 'lost' | 'refused' }>

export function judge(ended: EndedSandbox, { message, problems }: SandboxOutputs): SandboxVerdict {
  if (ended.kind === 'refused')
    return ended.again
      ? { kind: 'try-again', message: ended.reason }
      : failed(`The bundle cannot be run: ${ended.reason}.`)
  if (ended.kind === 'lost') return failed(`How the bundle ended is not known: ${ended.reason}.`)
  if (ended.stopped !== undefined) return failed(stops[ended.stopped])
  switch (ended.code) {
    case 0:
      return problems.length === 0
        ? { kind: 'succeeded' }
        : failed(`What the bundle left cannot be used: ${problems.join('; ')}.`)
    case 8:
      return { kind: 'not-implemented' }
    case 75:
      return { kind: 'try-again', message: message ?? 'the bundle asks to be run again later' }
    default:
      return failed(message ?? `The bundle ended with exit code ${ended.code}.`)
  }
}

function failed(message: string): SandboxVerdict {
  return { kind: 'failed', message }
}

const stops: Readonly<Record<Stop, string>> = {
  time: 'The bundle took longer than its time limit and was stopped: its author may raise "timeouts" in its spec.',
  memory:
    'The bundle used more memory than its limit and was stopped: see "resources" in its spec, and bundles.memory.',
  output: 'The bundle printed more than its limit and was stopped: see "resources" in its spec, and bundles.output.',
  processes: 'The bundle started more processes than its limit and was stopped: see bundles.processes.',
  cancelled: 'The bundle was cancelled.',
}
