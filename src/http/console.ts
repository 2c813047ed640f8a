import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { extname } from 'node:path'
import { promisify } from 'node:util'
import { brotliCompress, gzip } from 'node:zlib'
import { BrokerError } from '../protocol/errors.ts'
import type { Exchange } from './exchange.ts'
import type { HttpResponse } from './message.ts'
import { methodNotAllowed } from './respond.ts'

/** The same from `src/http` and from `dist/http`. */
const builtFiles = new URL('../../dist/console/', import.meta.url)

/** Nothing from elsewhere, nothing that stands in a page, no frame around it. */
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'self'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ')

const always = {
  'content-security-policy': policy,
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  vary: 'accept-encoding',
}

const types: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
}

export function isConsolePath(path: string): boolean {
  return path === '/console' || path.startsWith('/console/')
}

/**
 * The web console: a page, and the files that it loads, whose names change with their content. The page stands for every path
 * but those of files; it knows no address: its links are relative to how deep the path is, so it works behind any prefix.
 */
export function createConsole(folder = builtFiles) {
  const kept = new Map<string, Promise<File>>()

  function load(name: string): Promise<File> {
    const known = kept.get(name)
    if (known !== undefined) return known
    const loading = read(name, folder)
    kept.set(name, loading)
    loading.catch(() => kept.delete(name))
    return loading
  }

  return async ({ path, method, headers }: Exchange): Promise<HttpResponse> => {
    if (method !== 'GET' && method !== 'HEAD') throw methodNotAllowed(['GET', 'HEAD'])
    if (path === '/console') return { status: 308, headers: { ...always, location: 'console/' }, body: '' }
    const asset = /^\/console\/assets\/([\w-]+(?:\.[\w-]+)*)$/.exec(path)?.[1]
    if (asset === undefined && path.startsWith('/console/assets/')) throw notThere()
    const file = await (asset === undefined ? page(path) : load(`assets/${asset}`))
    const shown = { ...always, 'content-type': file.type, etag: file.etag, 'cache-control': lifeOf(asset) }
    if (headers['if-none-match'] === file.etag) return { status: 304, headers: shown, body: '' }
    return encode(file, headers['accept-encoding'] ?? '', shown)
  }

  async function page(path: string): Promise<File> {
    const { body } = await load('index.html')
    const up = '../'.repeat(path.split('/').length - 3) || './'
    return toFile('.html', Buffer.from(body.toString().replace('<base href="./"', `<base href="${up}"`)))
  }
}

interface File {
  readonly type: string
  readonly etag: string
  readonly body: Buffer
  /** Made once, when somebody takes it. */
  compressed: { br?: Promise<Buffer>; gzip?: Promise<Buffer> }
}

async function read(name: string, folder: URL): Promise<File> {
  try {
    return toFile(extname(name), await readFile(new URL(name, folder)))
  } catch {
    throw notThere()
  }
}

function toFile(extension: string, body: Buffer): File {
  const etag = `"${createHash('sha256').update(body).digest('base64url').slice(0, 22)}"`
  return { type: types[extension] ?? 'application/octet-stream', etag, body, compressed: {} }
}

function lifeOf(asset: string | undefined): string {
  return asset === undefined ? 'no-cache' : 'public, max-age=31536000, immutable'
}

const compressions = { br: promisify(brotliCompress), gzip: promisify(gzip) }

async function encode(file: File, accepted: string, headers: Readonly<Record<string, string>>): Promise<HttpResponse> {
  const encoding = (['br', 'gzip'] as const).find(name => takes(accepted, name))
  if (encoding === undefined) return { status: 200, headers, body: file.body }
  file.compressed[encoding] ??= compressions[encoding](file.body)
  return { status: 200, headers: { ...headers, 'content-encoding': encoding }, body: await file.compressed[encoding] }
}

/** A weight of 0 is a refusal. */
function takes(accepted: string, encoding: string): boolean {
  const [, weight] = new RegExp(`(?:^|,)\\s*${encoding}\\s*(?:;\\s*q=([\\d.]+)\\s*)?(?:,|$)`).exec(accepted) ?? [
    undefined,
    '0',
  ]
  return weight === undefined || Number(weight) > 0
}

function notThere(): BrokerError {
  return new BrokerError('NotFound', 'The console has no such file. Load its page again.')
}
