import { createHash, timingSafeEqual } from 'node:crypto'
import { mkdir, open, readFile, rename, rm } from 'node:fs/promises'
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
export interface KvBackend {
  create(store: string, limit: number): Promise<void>
  resize(store: string, limit: number): Promise<void>
  remove(store: string): Promise<void>
  exists(store: string): Promise<boolean>
  addUser(store: string, user: string, password: string): Promise<void>
  removeUser(store: string, user: string): Promise<void>
  /** Whether the password is that user's; false for unknown stores and users too. */
  authenticate(store: string, user: string, password: string): Promise<boolean>
  get(store: string, key: string): Promise<string | undefined>
  keys(store: string): Promise<readonly string[]>
  /** False when the store is full. */
  put(store: string, key: string, value: string): Promise<boolean>
  delete(store: string, key: string): Promise<void>
}

export function createKvBackend(folder: string): KvBackend {
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
    const file = await open(`${target}.new`, 'w', 0o600)
    try {
      await file.writeFile(JSON.stringify(content))
      await file.sync()
    } finally {
      await file.close()
    }
    await rename(`${target}.new`, target)
  }
  const change = (store: string, edit: (content: KvStore) => KvStore | undefined): Promise<boolean> =>
    exclusive(async () => {
      const content = await read(store)
      const changed = content === undefined ? undefined : edit(content)
      if (changed !== undefined) await write(store, changed)
      return changed !== undefined
    })

  return {
    create: (store, limit) =>
      exclusive(async () => {
        if ((await read(store)) === undefined) await write(store, { limit, users: {}, values: {} })
      }),
    resize: async (store, limit) => void (await change(store, content => ({ ...content, limit }))),
    remove: store => exclusive(() => rm(fileOf(store), { force: true })),
    exists: async store => (await read(store)) !== undefined,
    async addUser(store, user, password) {
      const added = await change(store, content => ({
        ...content,
        users: { ...content.users, [user]: hash(password) },
      }))
      if (!added) throw new Error('the key-value store does not exist')
    },
    removeUser: async (store, user) =>
      void (await change(store, content => ({ ...content, users: without(content.users, user) }))),
    async authenticate(store, user, password) {
      const users = (await read(store))?.users ?? {}
      const known = Object.hasOwn(users, user) ? (users[user] ?? '') : ''
      return timingSafeEqual(Buffer.from(hash(password)), Buffer.from(known.padEnd(64, ' ')))
    },
    async get(store, key) {
      const values = (await read(store))?.values ?? {}
      return Object.hasOwn(values, key) ? values[key] : undefined
    },
    keys: async store => Object.keys((await read(store))?.values ?? {}).sort(),
    put: (store, key, value) =>
      change(store, content => {
        const full = !Object.hasOwn(content.values, key) && Object.keys(content.values).length >= content.limit
        return full ? undefined : { ...content, values: { ...content.values, [key]: value } }
      }),
    delete: async (store, key) =>
      void (await change(store, content => ({ ...content, values: without(content.values, key) }))),
  }
}

function hash(password: string): string {
  return createHash('sha256').update(password).digest('hex')
}

function without(record: Readonly<Record<string, string>>, key: string): Record<string, string> {
  return Object.fromEntries(Object.entries(record).filter(([name]) => name !== key))
}
