import { createHash } from 'node:crypto'
import { isJsonObject } from '../../protocol/json.ts'
import type { ImageProgram, NotKept } from '../../sandbox.ts'
import { type Engine, unavailable } from './engine.ts'
import { ensureImage } from './image.ts'

interface Keeping {
  readonly owner: string
  /** By their digests. */
  readonly programs: readonly ImageProgram[]
  readonly signal: AbortSignal
}

/**
 * Keeps images by a name of the owner's for each: Docker takes an image that was pulled by its digest for a leftover, unless
 * it has another name.
 */
export async function keepImages(engine: Engine, { owner, programs, signal }: Keeping): Promise<readonly NotKept[]> {
  const repository = `localhost/purser-kept/${createHash('sha256').update(owner).digest('hex').slice(0, 16)}`
  const nameOf = ({ image }: ImageProgram) => `${repository}:${tagOf(image)}`
  const names = await listNames(engine, repository, signal)
  const needed = new Set(programs.map(nameOf))
  const keep = async (program: ImageProgram) => {
    await ensureImage(engine, program, signal)
    if (!names.has(nameOf(program))) await addName(engine, program.image, repository, signal)
  }
  const jobs = [
    ...[...names]
      .filter(name => !needed.has(name))
      .map(name => [name, () => removeName(engine, name, signal)] as const),
    ...programs.map(program => [program.image, () => keep(program)] as const),
  ].values()
  const notKept: NotKept[] = []
  const work = async () => {
    for (const [image, job] of jobs)
      await job().catch(error => {
        signal.throwIfAborted()
        notKept.push({ image, error })
      })
  }
  await Promise.all(Array.from({ length: pullsAtOnce }, work))
  return notKept
}

const pullsAtOnce = 2

function tagOf(image: string): string {
  return image.replace(/^.*:/, '')
}

async function listNames(engine: Engine, repository: string, signal: AbortSignal): Promise<ReadonlySet<string>> {
  const filters = encodeURIComponent(JSON.stringify({ reference: [repository] }))
  const answer = await engine.call('GET', `/images/json?filters=${filters}`, { signal })
  const found = answer.status === 200 ? await answer.json() : undefined
  if (!Array.isArray(found)) throw await unavailable('listing the kept images', answer)
  // The other names of an image are listed with it.
  const names = found
    .filter(isJsonObject)
    .flatMap(({ RepoTags }) => (Array.isArray(RepoTags) ? RepoTags.map(String) : []))
  return new Set(names.filter(name => name.startsWith(`${repository}:`)))
}

async function addName(engine: Engine, image: string, repository: string, signal: AbortSignal): Promise<void> {
  const query = new URLSearchParams({ repo: repository, tag: tagOf(image) })
  const answer = await engine.call('POST', `/images/${encodeURIComponent(image)}/tag?${query}`, { signal })
  if (answer.status !== 201) throw await unavailable(`naming the image ${image}`, answer)
  answer.stream.resume()
}

async function removeName(engine: Engine, name: string, signal: AbortSignal): Promise<void> {
  const answer = await engine.call('DELETE', `/images/${encodeURIComponent(name)}`, { signal })
  // It is gone, or is the last name of an image that runs: then it is removed another time.
  if (![200, 404, 409].includes(answer.status)) throw await unavailable(`removing the name ${name}`, answer)
  answer.stream.resume()
}
