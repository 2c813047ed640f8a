/** A real registry for tests: Debian's docker-registry, in a folder of its own, on a port of its own. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { freePort } from '../external/free-port.ts'

export interface RegistryServer {
  /** Without TLS, whatever it serves itself. */
  readonly port: number
  readonly folder: string
  stop(): Promise<void>
}

export interface StartOptions {
  /** user:bcrypt lines. */
  readonly htpasswd?: string
  readonly token?: {
    readonly realm: string
    readonly service: string
    readonly issuer: string
    readonly certificate: string
  }
  readonly tls?: { readonly certificate: string; readonly key: string }
}

type Program = 'docker-registry' | 'buildah'

/**
 * Why these tests cannot run here; undefined where they can. REGISTRY_TESTS (`docker-registry,buildah`) names the programs
 * that must be tested with: one that is named and not to be had is a failure, one that is not named is left out.
 */
export function whyNoRegistry(program: Program = 'docker-registry'): string | undefined {
  const named = process.env.REGISTRY_TESTS?.split(',').map(name => name.trim())
  if (named !== undefined && !named.includes(program)) return `REGISTRY_TESTS is ${process.env.REGISTRY_TESTS}`
  if (findBinary(program) !== undefined) return undefined
  const reason = `${program} is not installed (apt-get install ${program})`
  if (named !== undefined) throw new Error(reason)
  return reason
}

function findBinary(program: Program): string | undefined {
  const folders = (process.env.PATH ?? '').split(delimiter)
  return folders.map(folder => join(folder, program)).find(file => existsSync(file))
}

export async function startRegistry({ htpasswd, token, tls }: StartOptions = {}): Promise<RegistryServer> {
  const folder = mkdtempSync(join(tmpdir(), 'purser-registry-'))
  const port = await freePort()
  const file = (name: string, content: string) => {
    writeFileSync(join(folder, name), content)
    return join(folder, name)
  }
  const auth =
    htpasswd !== undefined
      ? { auth: { htpasswd: { realm: 'tests', path: file('htpasswd', htpasswd) } } }
      : token !== undefined
        ? {
            auth: { token: { ...token, certificate: undefined, rootcertbundle: file('token.pem', token.certificate) } },
          }
        : {}
  const serving =
    tls === undefined ? {} : { tls: { certificate: file('tls.pem', tls.certificate), key: file('tls.key', tls.key) } }
  const config = {
    version: 0.1,
    log: { level: 'error' },
    storage: { filesystem: { rootdirectory: join(folder, 'data') }, delete: { enabled: true } },
    http: { addr: `127.0.0.1:${port}`, ...serving },
    ...auth,
  }
  const binary = findBinary('docker-registry')
  if (binary === undefined) throw new Error('docker-registry is not installed')
  // JSON is YAML.
  const child = spawn(binary, ['serve', file('config.yml', JSON.stringify(config))], { stdio: 'ignore' })
  await untilUp(child, `${tls === undefined ? 'http' : 'https'}://127.0.0.1:${port}/v2/`)
  return {
    port,
    folder,
    async stop() {
      if (child.exitCode === null && child.signalCode === null) {
        const gone = once(child, 'exit')
        child.kill('SIGKILL')
        await gone
      }
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

async function untilUp(child: ChildProcess, url: string): Promise<void> {
  for (;;) {
    if (child.exitCode !== null) throw new Error(`docker-registry ended with ${child.exitCode}`)
    try {
      await fetch(url)
      return
    } catch (error) {
      // A certificate that fetch does not trust is a sign of life too.
      const cause =
        error instanceof Error && error.cause instanceof Error && 'code' in error.cause ? error.cause.code : ''
      if (cause !== 'ECONNREFUSED' && cause !== 'ECONNRESET') return
      await pause(20)
    }
  }
}
