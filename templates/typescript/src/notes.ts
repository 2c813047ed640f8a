import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { defineBroker, defineService } from 'purser'

// Notes: a small key-value store. An instance is a folder, a binding is a token, and applications read and write
// notes over HTTP with it. Replace it with the service that you want to offer.

export interface NotesOptions {
  /** Where the notes are kept. */
  readonly folder: string
  /** How applications reach this broker. */
  readonly publicUrl: string
}

export function createNotesBroker({ folder, publicUrl }: NotesOptions) {
  const home = (instanceId: string) => join(folder, hash(instanceId))
  const tokenFile = (instanceId: string, bindingId: string) => join(home(instanceId), 'tokens', hash(bindingId))
  const writeLimits = (instanceId: string, limits: Limits) =>
    writeFile(join(home(instanceId), 'limits.json'), JSON.stringify(limits))

  const notes = defineService({
    id: 'notes',
    name: 'notes',
    description: 'A place to keep short notes',
    bindable: true,
    instancesRetrievable: true,
    bindingsRetrievable: true,
    plans: [{ id: 'notes-small', name: 'small', description: 'Notes on the disk of the broker', free: true }],
    // Advertised in the catalog and checked before your code runs; ctx.parameters gets its type from it. A Zod schema does
    // as well.
    parameters: {
      type: 'object',
      properties: { maxLength: { type: 'integer', minimum: 1, maximum: 100000, default: 1000 } },
      additionalProperties: false,
    },

    // A step that has succeeded is never run again, also not after a crash; one that fails is tried again.
    async provision(ctx) {
      await ctx.step('create folder', async () => {
        await mkdir(join(home(ctx.instance.id), 'tokens'), { recursive: true })
      })
      await ctx.step('write limits', () => writeLimits(ctx.instance.id, ctx.parameters))
      ctx.describe('folder created')
    },

    async update(ctx) {
      await ctx.step('write limits', () => writeLimits(ctx.instance.id, ctx.parameters))
    },

    async bind(ctx) {
      const secret = await ctx.step('make secret', () => randomBytes(24).toString('base64url'))
      await ctx.step('allow token', () => writeFile(tokenFile(ctx.instance.id, ctx.binding.id), hash(secret)))
      return {
        credentials: {
          url: `${publicUrl}/notes/${hash(ctx.instance.id)}`,
          token: `${hash(ctx.binding.id)}.${secret}`,
        },
      }
    },

    async unbind(ctx) {
      await ctx.step('refuse token', () => rm(tokenFile(ctx.instance.id, ctx.binding.id), { force: true }))
    },

    async deprovision(ctx) {
      await ctx.step('remove folder', () => rm(home(ctx.instance.id), { recursive: true, force: true }))
    },
  })

  return defineBroker({
    services: [notes],
    routes: [
      { method: 'GET', path: '/notes/*', handle: request => readNote(folder, request) },
      { method: 'PUT', path: '/notes/*', handle: request => writeNote(folder, request) },
    ],
  })
}

interface Limits {
  readonly maxLength: number
}

async function readNote(folder: string, request: Request): Promise<Response> {
  const note = await authorize(folder, request)
  if (note === undefined) return new Response('wrong token\n', { status: 401 })
  try {
    return new Response(await readFile(note.file, 'utf8'))
  } catch {
    return new Response('no such note\n', { status: 404 })
  }
}

async function writeNote(folder: string, request: Request): Promise<Response> {
  const note = await authorize(folder, request)
  if (note === undefined) return new Response('wrong token\n', { status: 401 })
  const text = await request.text()
  const { maxLength }: Limits = JSON.parse(await readFile(join(note.home, 'limits.json'), 'utf8'))
  if (text.length > maxLength) return new Response(`at most ${maxLength} characters\n`, { status: 413 })
  await writeFile(note.file, text)
  return new Response('kept\n')
}

/** The note that a request may touch: /notes/<hash of the instance>/<name>, with a token of that instance. */
async function authorize(folder: string, request: Request) {
  const [, , instance = '', name = ''] = new URL(request.url).pathname.split('/')
  const [, binding = '', secret = ''] =
    /^Bearer (\w+)\.([\w-]+)$/.exec(request.headers.get('authorization') ?? '') ?? []
  if (!/^[0-9a-f]{64}$/.test(instance) || !/^[0-9a-f]{64}$/.test(binding) || name === '') return undefined
  const home = join(folder, instance)
  try {
    const expected = await readFile(join(home, 'tokens', binding))
    if (!timingSafeEqual(expected, Buffer.from(hash(secret)))) return undefined
  } catch {
    return undefined
  }
  return { home, file: join(home, `${hash(name)}.txt`) }
}

/** Ids come from outside and may hold any character: file names are made from their hashes. */
function hash(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}
