import { wrongUsage } from '../cli-error.ts'

/** A name of an image in parts; `host` is absent where it names no registry. */
export interface ImageName {
  readonly host?: string
  readonly repository: string
  readonly tag: string
}

const part = '[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*'
const pattern = new RegExp(
  `^(?:(?<host>localhost(?::\\d+)?|[\\w-]+(?:\\.[\\w-]+)+(?::\\d+)?|[\\w-]+:\\d+|\\[[0-9a-f:]+\\](?::\\d+)?)/)?(?<repository>${part}(?:/${part})*)(?::(?<tag>\\w[\\w.-]{0,127}))?$`,
)

export function parseImageName(text: string): ImageName {
  const { host, repository, tag = 'latest' } = pattern.exec(text)?.groups ?? {}
  if (repository !== undefined) return { host, repository, tag }
  throw wrongUsage({
    // What stands before an @ may be a password.
    what: text.includes('@') ? 'an image cannot have an @ in its name' : `"${text}" cannot be the name of an image`,
    why: text.includes('@')
      ? 'neither credentials nor a digest are part of it'
      : 'it is not <registry>/<name>:<tag>, with small letters in the name',
    next: text.includes('@')
      ? "Leave it off; the engine's own login (podman login, docker login) has the credentials."
      : 'Write it as in registry.example.com/team/greeter:1.0.',
  })
}
