import { existsSync, realpathSync } from 'node:fs'
import { isAbsolute, relative } from 'node:path'

/** What a sandbox sees of the machine's files. All paths are real ones. */
export interface View {
  /** Folders that are empty in the sandbox. */
  readonly hidden: readonly string[]
  /** Folders in them that are seen all the same. The last one is where the sandbox begins, and it cannot be written to. */
  readonly kept: readonly string[]
}

/** Where programs of a machine listen. Without a network, a bundle should not reach them by their sockets either. */
const socketFolders = ['/run', '/var/run']

interface Wanted {
  readonly hidden: readonly string[]
  readonly network: 'none' | 'allowed'
  /** Of the sandbox. */
  readonly folder: string
  /** Of the bundle. */
  readonly program: string
}

/** Undefined where the sandbox sees everything. What is not there needs not be hidden. */
export function viewOf({ hidden, network, folder, program }: Wanted): View | undefined {
  const named = [...hidden, ...(network === 'none' ? socketFolders : [])]
    .filter(existsSync)
    .map(path => realpathSync(path))
  const outermost = [...new Set(named)].filter(path => !named.some(other => other !== path && isWithin(path, other)))
  if (outermost.length === 0) return undefined
  return { hidden: outermost, kept: [folder, program] }
}

/**
 * Commands for a shell that has a mount namespace of its own, and may change it. Where one fails, nothing runs. The folders
 * that stay are opened before anything is hidden, since afterwards they have no path any more.
 */
export function changeView({ hidden, kept }: View): string {
  const inside = kept.filter(path => hidden.some(other => isWithin(path, other)))
  const fail = 'exit 126'
  return [
    ...inside.map((path, index) => `exec ${index + 3}<${quote(path)} || ${fail}`),
    ...hidden.map(path => `mount -n -c -t tmpfs -o mode=711,size=64k,nosuid,nodev sandbox ${quote(path)} || ${fail}`),
    ...inside.flatMap((path, index) => [
      `mkdir -p ${quote(path)} && mount -n -c --bind /proc/self/fd/${index + 3} ${quote(path)} || ${fail}`,
      `exec ${index + 3}<&-`,
    ]),
    // Through the old working folder, what is hidden could still be reached.
    ...kept
      .slice(-1)
      .flatMap(path => [
        ...(inside.includes(path) ? [`mount -n -c -o remount,bind,ro,nosuid,nodev ${quote(path)} || ${fail}`] : []),
        `cd ${quote(path)} || ${fail}`,
      ]),
    '',
  ].join('\n')
}

function isWithin(path: string, folder: string): boolean {
  const way = relative(folder, path)
  return way === '' || (!way.startsWith('..') && !isAbsolute(way))
}

function quote(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}
