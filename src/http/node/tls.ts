import { readFile } from 'node:fs/promises'
import type { ServerOptions } from 'node:https'
import { createSecureContext } from 'node:tls'
import { codeOf, messageOf } from '../../shape/thrown.ts'
import { ListenError } from './listen-error.ts'

/** Paths of PEM files. With `ca` only clients are served that show a certificate which it has signed. */
export interface TlsFiles {
  readonly cert: string
  readonly key: string
  readonly ca?: string
}

/** Reads and tries the files, so that a wrong one is named now and not with the first handshake. */
export async function loadTls(files: TlsFiles): Promise<ServerOptions> {
  const [cert, key, ca] = await Promise.all([
    read('certificate', files.cert),
    read('private key', files.key),
    files.ca === undefined ? undefined : read('CA certificate', files.ca),
  ])
  attempt(`the certificate ${files.cert} cannot be used`, () => createSecureContext({ cert }))
  attempt(`the private key ${files.key} cannot be used`, () => createSecureContext({ key }))
  attempt(`the private key ${files.key} does not belong to the certificate ${files.cert}`, () =>
    createSecureContext({ cert, key }),
  )
  if (ca === undefined) return { cert, key }
  attempt(`the CA certificate ${files.ca} cannot be used`, () => createSecureContext({ ca }))
  return { cert, key, ca, requestCert: true, rejectUnauthorized: true }
}

async function read(what: string, path: string): Promise<Buffer> {
  try {
    return await readFile(path)
  } catch (error) {
    throw new ListenError(`the ${what} ${path} cannot be read (${codeOf(error)}): check server.tls`, { cause: error })
  }
}

function attempt(what: string, use: () => unknown): void {
  try {
    use()
  } catch (error) {
    // OpenSSL's own words name the fault, never the content.
    throw new ListenError(`${what} (${messageOf(error)}): check server.tls`, { cause: error })
  }
}
