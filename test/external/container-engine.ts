/** What tests ask of a container engine, whichever it is, and images made of nothing but busybox. */
import { execFileSync } from 'node:child_process'
import { chmodSync, copyFileSync, mkdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { createEngine } from '../../src/sandbox/container/engine.ts'

export interface ContainerEngine {
  readonly socket: string
  /** An image with busybox whose entry point is the script; answers its name. */
  image(script: string): Promise<string>
  /** An image of an archive's files; `changes` are lines of a Dockerfile. Answers its name. */
  load(archive: string, changes: readonly string[]): Promise<string>
  forget(image: string): Promise<void>
  /** Removes everything, containers that run included. */
  stop(): Promise<void>
}

/** Who runs in the containers. */
export const sandboxUser =
  process.getuid?.() === 0 ? { uid: 65534, gid: 65534 } : { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 }

/** What one of these programs lacks on this machine; undefined where they are all there. */
export function findMissing(programs: readonly string[], advice: string): string | undefined {
  for (const program of programs)
    try {
      execFileSync('which', [program], { stdio: 'ignore' })
    } catch {
      return `there is no ${program}: install ${advice}`
    }
  return undefined
}

/** Makes the image that the others are made from, by the engine's own program. */
export async function makeBase(folder: string, program: (...args: string[]) => Promise<unknown>): Promise<void> {
  await program('import', packBase(folder), baseImage)
  await program('create', '--name', baseContainer, baseImage, 'true')
}

/** The files of an image, as an archive to be imported. */
export function packBase(folder: string): string {
  execFileSync('tar', ['-C', makeTree(folder), '-cf', join(folder, 'base.tar'), '.'])
  return join(folder, 'base.tar')
}

/** A root of files with busybox under all its names. */
export function makeTree(folder: string): string {
  const tree = join(folder, 'tree')
  for (const part of ['bin', 'tmp', 'run/bundle', 'proc', 'etc']) mkdirSync(join(tree, part), { recursive: true })
  chmodSync(join(tree, 'tmp'), 0o1777)
  const busybox = execFileSync('which', ['busybox'], { encoding: 'utf8' }).trim()
  copyFileSync(busybox, join(tree, 'bin', 'busybox'))
  chmodSync(join(tree, 'bin', 'busybox'), 0o755)
  const names = execFileSync(busybox, ['--list'], { encoding: 'utf8' }).trim().split('\n')
  for (const name of names) if (name !== 'busybox') symlinkSync('busybox', join(tree, 'bin', name))
  return tree
}

/** Imports an archive by the engine's own program. */
export async function loadImage(
  program: (...args: string[]) => Promise<unknown>,
  archive: string,
  changes: readonly string[],
): Promise<string> {
  const name = 'localhost/purser-test-loaded:1'
  await program('import', ...changes.flatMap(change => ['--change', change]), archive, name)
  return name
}

/** Removes what the engine takes for leftovers: images without a name. */
export async function pruneImages({ socket }: Pick<ContainerEngine, 'socket'>): Promise<void> {
  const filters = encodeURIComponent(JSON.stringify({ dangling: ['true'] }))
  const { status, stream } = await createEngine(socket).call('POST', `/images/prune?filters=${filters}`)
  stream.resume()
  if (status !== 200) throw new Error(`the images could not be pruned: ${status}`)
}

/** The names under which brokers keep images. */
export async function keptNamesOf({ socket }: Pick<ContainerEngine, 'socket'>): Promise<readonly string[]> {
  const answer = await createEngine(socket).call('GET', '/images/json')
  const images = (await answer.json()) as readonly { readonly RepoTags?: readonly string[] | null }[]
  return images.flatMap(({ RepoTags }) => RepoTags ?? []).filter(name => name.startsWith('localhost/purser-kept/'))
}

/** With busybox and nothing else. */
export const baseImage = 'localhost/purser-test-base:1'
const baseContainer = 'base'

/** Makes images, each script once. */
export function createImages(socket: string): (script: string) => Promise<string> {
  const repo = 'localhost/purser-test'
  const engine = createEngine(socket)
  const images = new Map<string, string>()
  return async script => {
    const known = images.get(script)
    if (known !== undefined) return known
    const tag = `${images.size + 1}`
    const entrypoint = JSON.stringify(['/bin/sh', '-c', script, 'entrypoint'])
    const query = new URLSearchParams({ container: baseContainer, repo, tag, changes: `ENTRYPOINT ${entrypoint}` })
    const made = await engine.call('POST', `/commit?${query}`, { body: {} })
    if (made.status !== 201) throw new Error(`no image was made: ${made.status} ${await made.problem()}`)
    made.stream.resume()
    images.set(script, `${repo}:${tag}`)
    return `${repo}:${tag}`
  }
}
