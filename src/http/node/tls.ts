import { readFile } from 'node:fs/promises'
import type { ServerOptions } from 'node:https'
import { createSecureContext, type SecureContextOptions } from 'node:tls'
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
  const cert = await read('certificate', files.cert)
  const key = await read('private key', files.key)
  const ca = files.ca === undefined ? undefined : await read('CA certificate', files.ca)
  attempt(`the certificate ${files.cert} cannot be used`, { cert })
  attempt(`the private key ${files.key} cannot be used`, { key })
  attempt(`the private key ${files.key} does not belong to the certificate ${files.cert}`, { cert, key })
  if (ca === undefined) return { cert, key }
  attempt(`the CA certificate ${files.ca} cannot be used`, { ca })
  return { cert, key, ca, requestCert: true, rejectUnauthorized: true }
}

async function read(what: string, path: string): Promise<Buffer> {
  try {
    return await readFile(path)
  } catch (error) {
    throw new ListenError(`the ${what} ${path} cannot be read (${codeOf(error)}): check server.tls`, { cause: error })
  }
}

function attempt(problem: string, use: SecureContextOptions): void {
  try {
    createSecureContext(use)
  } catch (error) {
    // OpenSSL's own words name the fault, never the content.
    throw new ListenError(`${problem} (${messageOf(error)}): check server.tls`, { cause: error })
  }
}
