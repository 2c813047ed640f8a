import { programKindOf } from '../../domain/revision.ts'
import type { BundleParts } from '../../driver/bundle/parts.ts'
import type { Registry } from '../../registry.ts'
import type { PullPolicy } from '../../sandbox.ts'
import type { BundleFolders } from './folders.ts'

export interface ProgramForParts {
  readonly pull: PullPolicy
  readonly folders: Pick<BundleFolders, 'folderOf'>
  readonly registries: readonly Registry[]
}

/** What a revision runs. Credentials and folders are looked up each time. */
export function createProgramFor({ pull, folders, registries }: ProgramForParts): BundleParts['programFor'] {
  return async ({ revision, spec: { entrypoint } }) => {
    if (programKindOf(revision) === 'folder')
      return { kind: 'folder', folder: await folders.folderOf(revision), entrypoint }
    const registry = registries.find(({ name }) => name === revision.registry)
    const credentials = await registry?.pullCredentials?.(new AbortController().signal)
    return { kind: 'image', image: revision.image, pull, entrypoint, credentials }
  }
}
