import { type Clock, sleep } from '../../clock.ts'
import { SandboxRefusedError, type SandboxSpec } from '../../sandbox.ts'
import { createFolders, foldersOf, type User } from '../folders.ts'
import { layOut } from '../inputs.ts'
import { wasRemoved } from '../owner.ts'
import { currentAttempt, takeAttempt } from './attempts.ts'
import { type Containers, nameOf } from './containers.ts'
import { type Engine, unavailable } from './engine.ts'
import { asImage, ensureImage, type ImageFacts } from './image.ts'
import { placesInside, toContainer } from './to-container.ts'

export interface Starting {
  readonly engine: Engine
  readonly containers: Containers
  /** The runtime's folder. */
  readonly root: string
  readonly user: User
  readonly clock: Clock
}

/** How long another starter is given before the start is taken over from it. */
const patience = 5_000
const lookEvery = 150

/** Starts the sandbox, or finds that it was started; false where it was. */
export async function start(context: Starting, spec: SandboxSpec): Promise<boolean> {
  const { engine, containers, root, user, clock } = context
  const program = asImage(spec.program)
  const { folder } = foldersOf(root, spec.name)
  for (;;) {
    if (((await containers.find(spec.name))?.state ?? 'new') !== 'new') return false
    if ((await currentAttempt(folder)) === 'removed') throw wasRemoved(spec.name)
    const image = await ensureImage(engine, program)
    // It may refuse: then nothing was made.
    await containers.findUserNamespace()
    const layout = layOut(spec.inputs, placesInside)
    const job = { labels: spec.labels, createdAt: clock.now() }
    await createFolders(root, spec.name, { layout, job, user: process.getuid?.() === 0 ? user : undefined })
    const attempt = await currentAttempt(folder)
    if (attempt === 'removed') throw wasRemoved(spec.name)
    if (attempt === undefined || (attempt.number > 0 && (await startedByOther(context, spec.name)))) continue
    const own = await takeAttempt(folder, attempt)
    if (own === undefined) continue
    // From here on nobody can start what others have made.
    const before = await containers.find(spec.name)
    if (before !== undefined && before.state !== 'new') return false
    if (before !== undefined) await containers.discard(before.id, false)
    if (await startOnce(context, spec, own.output, image)) return true
  }
}

/** Waits a while for one that somebody else is about to start. */
async function startedByOther({ containers, clock }: Starting, name: string): Promise<boolean> {
  for (const end = clock.now() + patience; clock.now() < end; await sleep(clock, lookEvery))
    if (((await containers.find(name))?.state ?? 'new') !== 'new') return true
  return false
}

/** False where somebody else took the start over, or the sandbox was removed. */
async function startOnce(context: Starting, spec: SandboxSpec, output: string, image: ImageFacts): Promise<boolean> {
  const { engine, containers, root, user } = context
  const userNamespace = await containers.findUserNamespace()
  const folders = { ...foldersOf(root, spec.name), output }
  const layout = layOut(spec.inputs, placesInside)
  const body = toContainer(spec, layout, { image, user, owner: root, folders, userNamespace })
  const isOurs = async () => {
    const attempt = await currentAttempt(folders.folder)
    return typeof attempt === 'object' && attempt.output === output
  }
  const made = await engine.call('POST', `/containers/create?name=${nameOf(spec.name)}`, { body })
  if (made.status !== 201) {
    const failure = await unavailable(`creating the container of ${spec.name}`, made)
    if (made.status === 409 || !(await isOurs())) return false
    throw made.status < 500
      ? new SandboxRefusedError('the container engine refuses to make its container', { cause: failure })
      : failure
  }
  const id = String(Object(await made.json()).Id)
  const started = await engine.call('POST', `/containers/${id}/start`)
  if (started.status === 204 || started.status === 304) {
    started.stream.resume()
    return true
  }
  const failure = await unavailable(`starting the container of ${spec.name}`, started)
  // It may run all the same.
  if (((await containers.findById(id))?.state ?? 'new') !== 'new') return true
  const ours = await isOurs()
  await containers.discard(id, true)
  if (!ours) return false
  throw started.status < 500 || cannotRun.test(failure.message)
    ? new SandboxRefusedError('the entry point of its image cannot be run; correct the image', { cause: failure })
    : failure
}

/** Podman's words; Docker says 400. */
const cannotRun = /OCI runtime attempted to invoke a command that was not found|OCI permission denied/
