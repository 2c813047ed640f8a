/**
 * Sandboxes: what one bundle action runs in. Implementations stand in `sandbox/`; the suite in `testing/sandbox-contract.ts`
 * is the real meaning of this file.
 *
 * - A sandbox is named by its operation. `start` starts it or attaches to it: under one name a bundle runs at most once,
 *   whoever calls, in whichever process, after whatever crash, however late. `remove` leaves nothing but the name, which
 *   cannot be started again for an hour: a call of somebody who was held up finds that it came too late.
 * - A sandbox needs no broker: it goes on, and remembers how it ended, while nobody looks. A process keeps
 *   its limits meanwhile. So does a pod, but for what it may print, and a container, but for two: its time is kept while brokers wait or `list`, what it may
 *   print while they wait; what is kept of that is bounded in any case.
 * - No answer is never read as "gone" or "done": it is `unknown`, and asked again.
 * - When a sandbox has ended, everything that it started has ended.
 */
import type { JsonObject } from './protocol/json.ts'

export interface SandboxSpec {
  /** The operation's name for it; see `checkName`. */
  readonly name: string
  /** For those who look for leftovers. No secrets: anybody on the machine may read them. */
  readonly labels: Readonly<Record<string, string>>
  readonly program: SandboxProgram
  readonly inputs: SandboxInputs
  readonly limits: SandboxLimits
  readonly network: 'none' | 'allowed'
  readonly origin?: SandboxOrigin
}

/** Whom an action is for: what a runtime needs to know that gives its sandboxes rights. */
export interface SandboxOrigin {
  /** The full name of the bundle. */
  readonly bundle: string
  /** The namespace that the service is for, where the platform has such. */
  readonly namespace?: string
  /** Who asked, as a platform that is a Kubernetes cluster names users. */
  readonly user?: { readonly username: string; readonly uid?: string; readonly groups: readonly string[] }
}

export type SandboxProgram =
  /** A bundle on this machine; `entrypoint` is a path inside it, `entrypoint.sh` where none is given. */
  | { readonly kind: 'folder'; readonly folder: string; readonly entrypoint?: string }
  | {
      readonly kind: 'image'
      readonly image: string
      readonly pull: PullPolicy
      readonly entrypoint?: string
      /** Its label says that it is made on the base of the Automation Broker: its entry point takes JSON, and no file. */
      readonly readsJson?: boolean
      /** It may wait for somebody who fetches its credentials with the command `broker-bind-creds` (runtime 1). */
      readonly keepsCredentials?: boolean | undefined
      /** For the registry that the image is pulled from. */
      readonly credentials?: { readonly username: string; readonly password: string }
    }

export type ProgramKind = SandboxProgram['kind']

export type ImageProgram = Extract<SandboxProgram, { readonly kind: 'image' }>

export type PullPolicy = 'always' | 'if-missing' | 'never'

/** What an action is given. Everything reaches it in files; no secret is in an argument. */
export interface SandboxInputs {
  readonly action: string
  /** `$BUNDLE_INPUT`. */
  readonly input: JsonObject
  /** `--extra-vars`: a file, or JSON as bundles of the Automation Broker expect it, where `open` allows that. */
  readonly extraVars: JsonObject
  /** Nothing in the variables and the state is secret: they may stand in the arguments. */
  readonly open?: boolean
  /** `$BUNDLE_STATE`, one file a key; also variables of `--extra-vars`, as `_apb_state` and `state_<key>`. */
  readonly state: Readonly<Record<string, string>>
  /** `$BUNDLE_BINDING_STATE`, the same for the binding; absent where the action is about the instance. */
  readonly bindingState?: Readonly<Record<string, string>>
  /** The operator's, also among the variables. A container sees them as `/etc/apb-secrets/apb-<name>/<key>`. */
  readonly secrets?: readonly NamedSecret[]
  /** Files for `$BUNDLE_HELPERS`: relative paths and what is in them. Those in `bin/` can be run. */
  readonly helpers: Readonly<Record<string, string>>
  /** Proxies and the like; no secrets. */
  readonly env: Readonly<Record<string, string>>
}

/** A secret of the operator's, as Kubernetes has them: a name, and values by key. */
export interface NamedSecret {
  readonly name: string
  readonly entries: JsonObject
}

export interface SandboxLimits {
  /** Milliseconds from its start; counted where it runs, not by the broker. */
  readonly time: number
  /** Bytes of memory, of all its processes together. */
  readonly memory?: number
  /** Cores. A process has no such limit. */
  readonly cpu?: number
  /** Bytes that it may print. */
  readonly output?: number
  readonly processes?: number
}

/** Why a sandbox was ended from outside. */
export type Stop = 'time' | 'memory' | 'output' | 'processes' | 'cancelled'

export type SandboxStatus =
  | { readonly kind: 'running' }
  /** `code` as a shell has it: 128 and the signal's number where one ended it. `stopped` is absent where it ended itself. */
  | { readonly kind: 'exited'; readonly code: number; readonly stopped?: Stop }
  /** It runs no more, and how far it came nobody knows: the machine was restarted, or what watched it was killed. */
  | { readonly kind: 'lost'; readonly reason: string }
  /** It never ran, and never will: there was no node or no image for it. `again`: another sandbox may well run. */
  | { readonly kind: 'refused'; readonly reason: string; readonly again?: true }
  /** Nothing began under this name. */
  | { readonly kind: 'absent' }
  /** The runtime did not answer: nothing follows from it. */
  | { readonly kind: 'unknown'; readonly reason: string }

/** What is left of a sandbox that has ended. */
export interface Collected {
  readonly outputs: SandboxOutputs
  /** The end of what it printed, without the secrets. */
  readonly log: string
}

export interface SandboxOutputs {
  readonly credentials?: JsonObject
  readonly dashboardUrl?: string
  readonly message?: string
  /** Changes by key; null removes one. */
  readonly state?: Readonly<Record<string, string | null>>
  readonly bindingState?: Readonly<Record<string, string | null>>
  readonly progress?: string
  /** Of the action `test`. */
  readonly testResults?: readonly TestResult[]
  /** What it left that cannot be used, each with what to do. With one of them, an action has not succeeded. */
  readonly problems: readonly string[]
}

export interface TestResult {
  readonly fail: boolean
  readonly message: string
}

export interface FoundSandbox {
  readonly name: string
  readonly labels: Readonly<Record<string, string>>
  /** Milliseconds since 1970. */
  readonly createdAt: number
}

/** What makes sandboxes. */
export interface Runtime {
  /** Unique among the runtimes of a broker. The ledger keeps it with each sandbox. */
  readonly type: string
  readonly runs: readonly ProgramKind[]
  /** Who can reach its sandboxes: the brokers on the host that started them, or every replica. */
  readonly reach: 'host' | 'anywhere'
  /** Fetches what `start` needs and may take long (pulls an image). Not needed for `start`, which would do it too. */
  prepare(program: SandboxProgram, signal: AbortSignal): Promise<void>
  /** Resolves when the sandbox runs or has run: the caller may crash now. `attached` says that it was there before. */
  start(spec: SandboxSpec): Promise<{ readonly attached: boolean }>
  status(name: string): Promise<SandboxStatus>
  /** The first status that is not `running`; `running` where the signal was aborted before. */
  wait(name: string, signal: AbortSignal): Promise<SandboxStatus>
  /** SIGTERM, and after the grace SIGKILL to whatever is left. Resolves when it was asked for; `wait` says when it is over. */
  cancel(name: string, graceMs: number): Promise<void>
  /** The last line that the action wrote about its progress, without the secrets, and without those that it has made by then. */
  progress(name: string, secrets: readonly string[]): Promise<string | undefined>
  /** Of a sandbox that has ended. Values of `secrets` are cut out of the log and the texts that people will read. */
  collect(name: string, secrets: readonly string[]): Promise<Collected>
  /** Ends what still runs and leaves nothing behind but the name, for an hour. Of an absent one: the same. */
  remove(name: string): Promise<void>
  /** Every sandbox that has not been removed. Also clears away what crashes left half made. */
  list(): Promise<readonly FoundSandbox[]>
  /**
   * Optional, for `bundles.keepPinned`. Fetches those of these images that are missing, sees to it that they stay when somebody
   * cleans up, and lets go of the others that it has kept for this owner. Every replica asks, again and again, with all that
   * are needed. Answers which could not be kept: one of them does not keep it from the others.
   */
  keep?(owner: string, programs: readonly ImageProgram[], signal: AbortSignal): Promise<readonly NotKept[]>
  /** Optional: shows it to people where they look for it. Nothing reads it: the ledger decides. */
  showKept?(kept: KeptCopy): Promise<void>
}

/** What is kept of an instance or a binding after an action that succeeded. Without state and credentials: nothing. */
export interface KeptCopy {
  /** Of the instance, or of the binding. */
  readonly id: string
  /** The full name of the bundle. */
  readonly bundle: string
  readonly action: string
  readonly state?: Readonly<Record<string, string>> | undefined
  readonly credentials?: JsonObject | undefined
}

export interface NotKept {
  readonly image: string
  readonly error: Error
}

/**
 * The sandbox cannot be started as it was asked for, now or later: nothing has run. Platforms read the message: what only the
 * log may have, such as paths, machines and images, is its cause.
 */
export class SandboxRefusedError extends Error {
  override readonly name = 'SandboxRefusedError'
}

/** The runtime did not answer, or answered with a fault of its own: try again. The message is for the log. */
export class RuntimeUnavailableError extends Error {
  override readonly name = 'RuntimeUnavailableError'
}

/** Throws where a name could not be one of a folder, a container and a Kubernetes object alike. */
export function checkName(name: string): void {
  if (!/^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/.test(name))
    throw new SandboxRefusedError(
      `"${name}" cannot name a sandbox: use up to 63 small letters, digits and dashes, with none at its ends`,
    )
}
