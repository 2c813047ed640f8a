import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** A certificate for localhost with the times that are given, and its key, in a folder. */
export function certify(folder: string, name: string, from: string, to: string) {
  const [cert, key, request] = ['crt', 'key', 'csr'].map(end => join(folder, `${name}.${end}`)) as [
    string,
    string,
    string,
  ]
  const run = (...args: string[]) => execFileSync('openssl', args, { cwd: folder, stdio: 'ignore' })
  const config = join(folder, `${name}.cnf`)
  writeFileSync(join(folder, `${name}.txt`), '')
  writeFileSync(
    config,
    `[ca]\ndefault_ca=own\n[own]\ndatabase=${name}.txt\nnew_certs_dir=.\nrand_serial=yes\ndefault_md=sha256\npolicy=any
x509_extensions=names\n[any]\ncommonName=supplied\n[names]\nsubjectAltName=DNS:localhost,IP:127.0.0.1\n`,
  )
  const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes']
  run('req', ...curve, '-subj', '/CN=tests', '-keyout', key, '-out', request)
  const times = ['-startdate', toDate(from), '-enddate', toDate(to)]
  run(
    'ca',
    '-config',
    config,
    '-selfsign',
    '-keyfile',
    key,
    '-in',
    request,
    '-out',
    cert,
    '-batch',
    '-notext',
    ...times,
  )
  return { cert, key }
}

/** `2020-01-01T00:00:00Z` as openssl has it. */
function toDate(time: string): string {
  return time.replace(/\.\d+/, '').replace(/[-:T]/g, '')
}
