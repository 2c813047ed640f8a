import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { promisify } from 'node:util'
import { SandboxRefusedError, type SandboxSpec } from '../../sandbox.ts'
import type { User } from '../folders.ts'
import { changeView, type View } from './view.ts'

/** What this machine lets a process be kept in. */
export interface Containment {
  /** A process namespace of its own: everything in it ends with its first process, and with its supervisor. */
  readonly namespaces: boolean
  /** A network namespace without a network. */
  readonly network: boolean
  /** A view of the files of its own, in which folders of others are empty. */
  readonly hides: boolean
  /** Whether memory and processes can be counted. */
  readonly counts: boolean
}

export const searchPath = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'

/** Tries what works: kernels and container engines forbid it in many ways. */
export async function findContainment(): Promise<Containment> {
  const namespaces = await works(contain(['true'], { network: 'allowed' }))
  const network = namespaces && (await works(contain(['true'], { network: 'none' })))
  const hides =
    namespaces && (await works(contain(['true'], { network: 'allowed', view: { hidden: ['/tmp'], kept: [] } })))
  return { namespaces, network, hides, counts: existsSync('/proc/self/stat') }
}

interface Contained {
  readonly network: 'none' | 'allowed'
  readonly user?: User
  readonly view?: View
}

/** A command that runs another one in namespaces of its own, as a user where one is given. */
export function contain(command: readonly string[], { network, user, view }: Contained): readonly string[] {
  const root = process.getuid?.() === 0
  // Root in a namespace of its own may change the view, and nothing else. What runs in it is the broker's user again,
  // in a second namespace from which the first one cannot be changed back.
  const users = root ? [] : ['--user', '--map-root-user']
  const again = root
    ? []
    : ['unshare', '--user', `--map-user=${process.getuid?.()}`, `--map-group=${process.getgid?.()}`, '--']
  const net = network === 'none' ? ['--net'] : []
  const change = user === undefined ? [] : ['--reuid', `${user.uid}`, '--regid', `${user.gid}`, '--clear-groups']
  const script = `${view === undefined ? '' : changeView(view)}${firstProcess}`
  return [
    // It is killed when its supervisor ends.
    ...['setpriv', '--pdeathsig', 'KILL', '--'],
    ...['unshare', ...users, '--pid', '--fork', '--kill-child', '--mount-proc', ...net, '--'],
    // The first process must not change its user: it would no longer be killed with the process that made the namespaces.
    ...['sh', '-c', script, 'sandbox', ...again, 'setpriv', '--no-new-privs', ...change, '--', ...command],
  ]
}

/** Throws where the machine cannot keep what the spec asks for: a limit that is not kept would be a lie. */
export function checkKept({ network, limits }: SandboxSpec, { network: isolated, counts }: Containment): void {
  if (network === 'none' && !isolated)
    throw new SandboxRefusedError(
      'this machine lets no process be cut off from the network; allow it the network, or use the container runtime',
    )
  if ((limits.memory !== undefined || limits.processes !== undefined) && !counts)
    throw new SandboxRefusedError(
      'memory and processes cannot be limited on this machine; take the limits out, or use the container runtime',
    )
}

/**
 * A command that runs another one with a limit on the processes of its user, in all sandboxes together. A sandbox's own
 * processes are counted a few times a second: between two looks, one that forks without end must not take the machine.
 */
export function bound(command: readonly string[], processes: number | undefined): readonly string[] {
  if (processes === undefined) return command
  // Shells spell it in two ways; where the limit is lower already, it stays.
  const script = `ulimit -p ${processes} 2>/dev/null || ulimit -u ${processes} 2>/dev/null; exec "$@"`
  return ['sh', '-c', script, 'sandbox', ...command]
}

/**
 * The first process of a namespace gets no signal that it does not ask for. So a shell is the first: it lets the bundle,
 * which gets the same SIGTERM by its process group, decide, and ends as the bundle ends.
 */
const firstProcess = `trap : TERM
"$@" &
child=$!
while wait "$child"; code=$?; [ "$code" -gt 128 ] && kill -0 "$child" 2>/dev/null; do :; done
exit "$code"`

async function works([command = '', ...args]: readonly string[]): Promise<boolean> {
  try {
    await promisify(execFile)(command, args, { env: { PATH: searchPath }, cwd: '/', timeout: 10_000 })
    return true
  } catch {
    return false
  }
}
