import { spawnSync } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { openPostgresStore } from '../../src/store/postgres/index.ts'
import { migrations } from '../../src/store/postgres/migrations.ts'
import { claimOne, finish, leaseOf, provision } from '../../src/testing/store-contract/rows.ts'
import { makeFolder, runCli } from '../cli/test-io.ts'
import { connect } from '../external/postgres-connection.ts'
import { describeMongo, newDatabase } from '../store/mongodb-subject.ts'
import { describePostgres, newSchema, patient } from '../store/postgres-subject.ts'

/** A folder with a configuration, as an operator has it. */
async function folderOf(store: string, schema: string): Promise<string> {
  const folder = await makeFolder()
  await writeFile(join(folder, 'purser.yaml'), `store: ${store}\nledger:\n  schema: ${schema}\n`)
  return folder
}

/** With psql where there is one. */
async function runScript(url: string, script: string): Promise<void> {
  const ran = spawnSync('psql', ['--quiet', '--set', 'ON_ERROR_STOP=1', url], { input: script, encoding: 'utf8' })
  if (ran.error === undefined) {
    expect(ran).toMatchObject({ status: 0, stderr: '' })
    return
  }
  const connection = await connect(url)
  await connection.query({ text: script }).finally(() => connection.end())
}

describePostgres('purser migrate on PostgreSQL', server => {
  it('prints a script that another user runs; then the broker needs no right to create', async () => {
    const schema = newSchema()
    const admin = await connect(server.url)
    await admin.query({ text: 'create role "Serving Clerk" login' })
    await admin.end()
    const url = server.url.replace('postgres@', 'Serving%20Clerk@')
    const cwd = await folderOf(url, schema)

    const dry = await runCli(['migrate', '--dry-run'], { cwd })
    expect(dry).toMatchObject({ code: 0, err: '' })
    expect(dry.out).toContain(`create schema "${schema}";`)
    expect((await runCli(['migrate', '--dry-run'], { cwd })).out).toBe(dry.out)
    const refused = await runCli(['migrate'], { cwd })
    expect(refused).toMatchObject({ code: 1, out: '', err: expect.stringContaining('permission denied') })

    await runScript(server.url, dry.out)
    const store = await openPostgresStore({ url, schema, ...patient })
    await provision(store, 'i')
    expect(await finish(store, leaseOf(await claimOne(store)))).toBe(true)
    await store.close()
    const { host } = new URL(url)
    const done = `postgres://[hidden]@${host}/postgres is up to date: nothing is pending.\n`
    expect(await runCli(['migrate', '--dry-run'], { cwd })).toEqual({ code: 0, err: '', out: `-- ${done}` })
    expect(await runCli(['migrate'], { cwd })).toEqual({ code: 0, err: '', out: done })
  })

  it('leaves everything as it is when its script is run a second time', async () => {
    const schema = newSchema()
    const cwd = await folderOf(server.url, schema)
    const { out } = await runCli(['migrate', '--dry-run'], { cwd })
    await runScript(server.url, out)
    const connection = await connect(server.url)
    await expect(connection.query({ text: out })).rejects.toThrow('already exists')
    await connection.query({ text: 'rollback' })
    const { rows } = await connection.query({ text: `select number from ${schema}.migration` })
    expect(rows).toHaveLength(migrations.length)
    await connection.end()
  })

  it('applies what is pending, once, also where several do it together', async () => {
    const schema = newSchema()
    const cwd = await folderOf(server.url, schema)
    const ran = await Promise.all(Array.from({ length: 4 }, () => runCli(['migrate'], { cwd })))
    expect(ran.map(({ code, err }) => [code, err])).toEqual(Array.from({ length: 4 }, () => [0, '']))
    expect(ran.filter(({ out }) => /was brought up to date\.\n$/.test(out))).toHaveLength(1)
    expect(ran.filter(({ out }) => /nothing is pending\.\n$/.test(out))).toHaveLength(3)
  })

  it.each([[[]], [['--dry-run']]])('refuses the schema of a newer release: migrate %j', async flags => {
    const schema = newSchema()
    const cwd = await folderOf(server.url, schema)
    expect((await runCli(['migrate'], { cwd })).code).toBe(0)
    const connection = await connect(server.url)
    await connection.query({ text: `insert into ${schema}.migration (number) values (99)` })
    await connection.end()
    const newer = await runCli(['migrate', ...flags], { cwd })
    expect(newer).toMatchObject({ code: 1, out: '' })
    expect(newer.err).toMatch(/^error: the schema \w+ was written by a newer release .* start that release/)
  })

  it('says what is in the way, and no password', async () => {
    const nobody = await runCli(['migrate', '--store', 'postgres://u:hunter2@127.0.0.1:1/db'], {
      cwd: await makeFolder(),
    })
    expect(nobody).toMatchObject({ code: 1, out: '', err: expect.stringContaining('cannot be reached') })
    const wrong = await runCli(['migrate', '--store', 'postgres://u:hunter2@[nowhere/db'], { cwd: await makeFolder() })
    expect(wrong).toMatchObject({ code: 2, out: '' })
    expect(nobody.err + wrong.err).not.toContain('hunter2')
  })
})

describeMongo('purser migrate on MongoDB', server => {
  it('makes the collections and indexes', async () => {
    const url = new URL(server().url)
    url.pathname = newDatabase()
    const args = ['migrate', '--store', url.href]
    const cwd = await makeFolder()
    const dry = await runCli([...args, '--dry-run'], { cwd })
    expect(dry).toMatchObject({
      code: 0,
      err: '',
      out: expect.stringMatching(/^-- .* takes no SQL: purser migrate .*\n$/),
    })
    const made = await runCli(args, { cwd })
    expect(made).toMatchObject({
      code: 0,
      err: '',
      out: expect.stringContaining('has all its collections and indexes'),
    })
  })
})

describe('purser migrate elsewhere', () => {
  it.each(['memory:', 'sqlite:ledger.db'])('%s: there is nothing to do', async store => {
    const cwd = await makeFolder()
    const { code, out, err } = await runCli(['migrate', '--store', store], { cwd })
    expect({ code, err }).toEqual({ code: 0, err: '' })
    expect(out).toMatch(
      /^(memory|sqlite):.* is brought up to date whenever a broker opens it: there is nothing to do\.\n$/,
    )
    expect((await runCli(['migrate', '--store', store, '--dry-run'], { cwd })).out).toBe(`-- ${out}`)
  })

  it('wrong usage is told apart', async () => {
    const cwd = await makeFolder()
    expect(await runCli(['migrate', '--store', 'mysql://u:hunter2@h/db'], { cwd })).toMatchObject({ code: 2, out: '' })
    expect(await runCli(['migrate', 'now'], { cwd })).toMatchObject({ code: 2, out: '' })
  })
})
