import { execFileSync } from 'node:child_process'
import { chmodSync, chownSync, mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { openPostgresStore } from '../../src/store/postgres/index.ts'
import { connect } from '../external/postgres-connection.ts'
import { describePostgres, newSchema, openStore } from './postgres-subject.ts'

describePostgres('TLS to PostgreSQL', server => {
  it('encrypts every connection, and trusts nobody but the named authority', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'purser-postgres-tls-'))
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
    const admin = await connect(server.url)
    onTestFinished(() => admin.end())
    const { rows } = await admin.query({ text: 'show data_directory' })
    const data = String(rows[0]?.data_directory)
    certify(join(data, 'server.crt'), join(data, 'server.key'))
    certify(join(folder, 'other.crt'), join(folder, 'other.key'))
    const { uid, gid } = statSync(data)
    for (const name of ['server.crt', 'server.key']) chownSync(join(data, name), uid, gid)
    chmodSync(join(data, 'server.key'), 0o600)
    await admin.query({ text: 'alter system set ssl = on' })
    await server.restart('fast')

    const trusting = (authority: string) => `${server.url}?sslmode=verify-full&sslrootcert=${authority}`
    const schema = newSchema()
    const store = await openStore({ url: trusting(join(data, 'server.crt')), schema })
    await store.ping()
    const look = await connect(server.url)
    onTestFinished(() => look.end())
    const seen = await look.query({
      text: `select s.ssl from pg_stat_ssl s join pg_stat_activity a using (pid) where a.application_name = 'purser'`,
    })
    expect(seen.rows.length).toBeGreaterThanOrEqual(2)
    expect(seen.rows.every(row => row.ssl === true)).toBe(true)

    const refused = openPostgresStore({ url: trusting(join(folder, 'other.crt')), schema })
    await expect(refused).rejects.toMatchObject({ name: 'StoreOpenError', failure: 'unreachable' })
    await expect(refused).rejects.toThrow(/certificate/)
  })
})

function certify(crt: string, key: string): void {
  const subject = ['-subj', '/CN=database', '-addext', 'subjectAltName=IP:127.0.0.1', '-days', '2']
  const algorithm = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes']
  execFileSync('openssl', ['req', '-x509', ...algorithm, ...subject, '-keyout', key, '-out', crt], { stdio: 'ignore' })
}
