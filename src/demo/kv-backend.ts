import { createHash, timingSafeEqual } from 'node:crypto'
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

/** One key-value store: who may use it, how much it holds, and what is in it. */
interface KvStore {
  readonly limit: number
  /** User name -> hash of the password. */
  readonly users: Readonly<Record<string, string>>
  readonly values: Readonly<Record<string, string>>
}

/**
 * The backend of the demo: small stores as files in a folder, each written whole and renamed into place. It knows nothing
 * of brokers; creating what exists and removing what does not exist both succeed, as in a good backend.
 */
export function createKvBackend(folder: string) {
  let queue: Promise<unknown> = Promise.resolve()
  /** One change after the other: each reads, changes and writes a whole file. */
  const exclusive = <T>(work: () => Promise<T>): Promise<T> => {
    const next = queue.then(work, work)
    queue = next.catch(() => {})
    return next
  }
  const fileOf = (store: string) => join(folder, `${createHash('sha256').update(store).digest('hex')}.json`)
  const read = async (store: string): Promise<KvStore | undefined> => {
    try {
      return JSON.parse(await readFile(fileOf(store), 'utf8')) as KvStore
    } catch (error) {
      if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
      throw error
    }
  }
  const write = async (store: string, content: KvStore): Promise<void> => {
    await mkdir(folder, { recursive: true, mode: 0o700 })
    const target = fileOf(store)
    await writeFile(`${target}.new`, JSON.stringify(content), { mode: 0o600, flush: true })
    await rename(`${target}.new`, target)
  }
  /** Whether there was something to change, and the edit wanted to. */
  const change = (store: string, edit: (content: KvStore) => KvStore | undefined): Promise<boolean> =>
    exclusive(async () => {
      const content = await read(store)
      const changed = content === undefined ? undefined : edit(content)
      if (changed !== undefined) await write(store, changed)
      return changed !== undefined
    })

  return {
    create: (store: string, limit: number) =>
      exclusive(async () => {
        if ((await read(store)) === undefined) await write(store, { limit, users: {}, values: {} })
      }),
    resize: (store: string, limit: number) => change(store, content => ({ ...content, limit })),
    remove: (store: string) => exclusive(() => rm(fileOf(store), { force: true })),
    exists: async (store: string) => (await read(store)) !== undefined,
    async addUser(store: string, user: string, password: string): Promise<void> {
      const add = (content: KvStore) => ({ ...content, users: { ...content.users, [user]: hash(password) } })
      if (!(await change(store, add))) throw new Error('the key-value store does not exist')
    },
    async removeUser(store: string, user: string): Promise<void> {
      await change(store, content => ({ ...content, users: without(content.users, user) }))
    },
    /** Whether the password is that user's; false for unknown stores and users too. */
    async authenticate(store: string, user: string, password: string): Promise<boolean> {
      const users = (await read(store))?.users ?? {}
      const known = Object.hasOwn(users, user) ? (users[user] ?? '') : ''
      return timingSafeEqual(Buffer.from(hash(password)), Buffer.from(known.padEnd(64, ' ')))
    },
    async get(store: string, key: string): Promise<string | undefined> {
      const values = (await read(store))?.values ?? {}
      return Object.hasOwn(values, key) ? values[key] : undefined
    },
    keys: async (store: string) => Object.keys((await read(store))?.values ?? {}).sort(),
    /** False when the store is full. */
    put: (store: string, key: string, value: string) =>
      change(store, content => {
        const full = !Object.hasOwn(content.values, key) && Object.keys(content.values).length >= content.limit
        return full ? undefined : { ...content, values: { ...content.values, [key]: value } }
      }),
    delete: (store: string, key: string) =>
      change(store, content => ({ ...content, values: without(content.values, key) })),
  }
}

export type KvBackend = ReturnType<typeof createKvBackend>

function hash(password: string): string {
  return createHash('sha256').update(password).digest('hex')
}

function without(record: Readonly<Record<string, string>>, key: string): Record<string, string> {
  return Object.fromEntries(Object.entries(record).filter(([name]) => name !== key))
}
