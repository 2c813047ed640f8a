import { spawn } from 'node:child_process'
import { constants } from 'node:fs'
import { access, mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { failure, wrongUsage } from '../cli-error.ts'
import { type CliIo, interruptible } from '../io.ts'

/** What can build and push images, best first: those without a daemon need nothing that runs. */
export const engineNames = ['podman', 'buildah', 'docker'] as const
export type EngineName = (typeof engineNames)[number]

export interface ImageEngine {
  readonly name: EngineName
  /** Runs it to its end. What it prints is shown on stderr, where data is not expected; answers what stood on its stdout. */
  run(task: EngineTask): Promise<string>
}

export interface EngineTask {
  readonly args: readonly string[]
  /** What could not be done where it fails, and what to do then. */
  readonly what: string
  readonly next: string
  /** It answers a question, and nobody has to see it work. */
  readonly quiet?: boolean
}

/** The engine that was named, or else the first one there is. */
export async function findEngine(io: CliIo, wanted: EngineName | undefined): Promise<ImageEngine> {
  for (const name of wanted === undefined ? engineNames : [wanted])
    if (await isOnPath(io, name)) return { name, run: task => runEngine(io, name, task) }
  if (wanted !== undefined)
    throw wrongUsage({
      what: `there is no ${wanted}`,
      why: 'no folder of PATH has it',
      next: 'Install it, or leave --engine off to take what there is.',
    })
  throw failure({
    what: 'there is nothing to make an image with',
    why: `no folder of PATH has ${engineNames.join(', ')}`,
    next: 'Install one of them. As a folder the bundle needs none: a registry of the type directory offers it.',
  })
}

async function isOnPath({ env }: CliIo, name: string): Promise<boolean> {
  for (const folder of (env.PATH ?? '').split(delimiter))
    if (
      folder !== '' &&
      (await access(join(folder, name), constants.X_OK).then(
        () => true,
        () => false,
      ))
    )
      return true
  return false
}

function runEngine(io: CliIo, name: EngineName, { args, what, next, quiet = false }: EngineTask): Promise<string> {
  const stopped = { what: `${name} was stopped`, why: 'interrupted', next: 'Run it again.' }
  return interruptible(io, stopped, signal => {
    return new Promise((resolve, reject) => {
      // Its own files and variables say who it is to a registry: nothing of that is an argument.
      const child = spawn(name, args, { cwd: io.cwd, env: { ...io.env }, stdio: ['ignore', 'pipe', 'pipe'], signal })
      let out = ''
      let end = ''
      child.stdout.setEncoding('utf8').on('data', text => {
        out += text
        if (!quiet) io.stderr.write(text)
      })
      child.stderr.setEncoding('utf8').on('data', text => {
        end = `${end}${text}`.slice(-2000)
        if (!quiet) io.stderr.write(text)
      })
      child.on('error', reject)
      child.on('close', code => {
        if (code === 0) return resolve(out)
        const last = end.trim().split('\n').at(-1)
        reject(failure({ what, why: last || `${name} ended with exit code ${code}`, next }))
      })
    })
  })
}

/** What the engine writes to the file that `work` is given the path of. */
export async function readWritten(work: (file: string) => Promise<unknown>): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'purser-image-'))
  try {
    const file = join(folder, 'written')
    await work(file)
    return (await readFile(file, 'utf8')).trim()
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}
