/** What Linux says about processes. Where there is no /proc, nothing is found. */
import { readdirSync, readFileSync } from 'node:fs'
import { marker } from './job.ts'

/** A process, its process group, and all that descends from it. */
export function membersOf(root: number): readonly number[] {
  const all = listPids().flatMap(pid => readStat(pid) ?? [])
  const members = new Set(all.filter(({ pid, group }) => pid === root || group === root).map(({ pid }) => pid))
  for (let size = -1; size !== members.size; ) {
    size = members.size
    for (const { pid, parent } of all) if (members.has(parent)) members.add(pid)
  }
  return [...members]
}

export function childOf(parent: number): number | undefined {
  return listPids().find(pid => readStat(pid)?.parent === parent)
}

/** Bytes; what processes share counts for each of them. */
export function memoryOf(pids: readonly number[]): number {
  const kibibytes = pids.map(pid => Number(/^VmRSS:\s*(\d+)/m.exec(read(pid, 'status') ?? '')?.[1] ?? 0))
  return kibibytes.reduce((sum, each) => sum + each, 0) * 1024
}

/** Kills whatever carries a sandbox's variable, wherever it has gone to, until nothing does. */
export function killMarked(folder: string): void {
  const wanted = `${marker}=${folder}`
  for (let round = 0; round < 100; round++) {
    const found = listPids().filter(pid => read(pid, 'environ')?.split('\0').includes(wanted))
    if (found.length === 0) return
    for (const pid of found) signal(pid, 'SIGKILL')
  }
}

/** A negative number is a process group. One that is gone needs no signal. */
export function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name)
  } catch {
    // Gone, or never ours.
  }
}

function listPids(): number[] {
  try {
    return readdirSync('/proc').map(Number).filter(Number.isInteger)
  } catch {
    return []
  }
}

function readStat(pid: number): { readonly pid: number; readonly parent: number; readonly group: number } | undefined {
  const text = read(pid, 'stat')
  // The name in brackets may hold anything, brackets too; behind the last one: state, parent, group.
  const [, parent, group] = text?.slice(text.lastIndexOf(')') + 2).split(' ') ?? []
  return parent === undefined || group === undefined ? undefined : { pid, parent: Number(parent), group: Number(group) }
}

function read(pid: number, file: string): string | undefined {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8')
  } catch {
    return undefined
  }
}
