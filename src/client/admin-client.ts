import { toPath } from './request.ts'
import { type CallOptions, createSender, type OsbClientOptions, type OsbResponse } from './sender.ts'
import type { WireError } from './wire.ts'

/** A chore as the operators' API shows it. Times are ISO 8601; what is not known is absent. */
export interface ChoreBody {
  readonly name: string
  /** Absent: off. */
  readonly pattern?: string
  readonly time_zone?: string
  readonly next_at?: string
  readonly running: boolean
  /** The latest run: the time it stands for, when it was, who did it and how it ended. */
  readonly due_at?: string
  readonly started_at?: string
  readonly finished_at?: string
  readonly owner?: string
  readonly ok?: boolean
  readonly message?: string
}

export interface StartedRun extends WireError {
  readonly name?: string
  readonly started?: boolean
  readonly due_at?: string
}

/** Purser's API for operators. */
export interface AdminClient {
  /** GET /admin/chores */
  chores(options?: CallOptions): Promise<OsbResponse<WireError & { readonly chores?: readonly ChoreBody[] }>>
  /** POST /admin/chores/:name/runs */
  runChore(name: string, options?: CallOptions): Promise<OsbResponse<StartedRun>>
}

export function createAdminClient(options: OsbClientOptions): AdminClient {
  const { send } = createSender(options)
  return {
    chores: call => send('GET', toPath('admin', 'chores'), {}, call),
    runChore: (name, call) => send('POST', toPath('admin', 'chores', name, 'runs'), {}, call),
  }
}
