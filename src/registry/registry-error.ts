/** Something that keeps a registry, or one image of it, from being read. Its message is shown, and has no secret in it. */
export class RegistryError extends Error {
  override readonly name = 'RegistryError'
}

/** The message of one of ours as it is; of anything else, with its kind. */
export function messageOf(error: unknown): string {
  if (error instanceof RegistryError) return error.message
  return error instanceof Error ? `${error.name}: ${error.message}` : String(error)
}
