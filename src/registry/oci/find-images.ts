import type { FoundImages } from '../../registry.ts'
import type { ImageServer } from '../registry-type.ts'
import { acceptManifest, isRepository, isUnknown, maxManifest } from './read-image.ts'

const atOnce = 4

/** Looks for images by their digests. An answer that is neither yes nor no says nothing. */
export async function findImages(
  images: readonly string[],
  { client, server }: ImageServer,
  signal: AbortSignal,
): Promise<FoundImages> {
  const there: string[] = []
  const gone: string[] = []

  const look = async (image: string): Promise<void> => {
    const [repository = '', digest = ''] = image.slice(server.length + 1).split('@')
    // It may have been pulled from elsewhere before the configuration was changed.
    if (!image.startsWith(`${server}/`) || !isRepository(repository)) return
    const url = new URL(`/v2/${repository}/manifests/${digest}`, client.base)
    const options = { repository, accept: acceptManifest, limit: maxManifest }
    // Registries that count pulls do not count it.
    const { status } = await client.get(url, { ...options, method: 'HEAD' })
    if (status === 200) there.push(image)
    // Without a body it is not known who says so.
    else if (status === 404 && isUnknown(await client.get(url, options))) gone.push(image)
  }

  const work = images.values()
  const worker = async () => {
    for (const image of work) {
      if (signal.aborted) return
      await look(image).catch(() => undefined)
    }
  }
  await Promise.all(Array.from({ length: atOnce }, worker))
  return { there, gone }
}
