/** A rolling update: `purser migrate` was run, and replicas of the release before still write. */
import { expect, it } from 'vitest'
import type { Run } from '../../src/store/postgres/database.ts'
import { applyMigrations } from '../../src/store/postgres/index.ts'
import { migrations } from '../../src/store/postgres/migrations.ts'
import { change, idsIn, pin, revisionRow, serviceRow } from '../../src/testing/store-contract/catalog-rows.ts'
import { bind, claimOne, finish, leaseOf, provision, stepRow } from '../../src/testing/store-contract/rows.ts'
import { connect } from '../external/postgres-connection.ts'
import { openParts } from './postgres-parts.ts'
import { describePostgres, newSchema, openStore, patient } from './postgres-subject.ts'

/** What later schemas have added to the rows of a change. */
const pins = ['revision_id', 'next_revision_id', 'pinned_plan']
const lists = ['created_at', 'platform', 'service_id', 'plan_id', 'usable', 'accepted_at', 'action']
const keys = ['service_key', 'plan_key', 'platform_key', 'failed_step', 'fingerprint']
/** By schema: what its release did not know of. It wrote the rest as today, unknown fields of documents included. */
const unknown = migrations.slice(0, -1).map((_, index) => [...([[...pins, ...lists], lists][index] ?? []), ...keys])

describePostgres('a rolling update', server => {
  it.each(unknown.map((columns, index) => [index + 1, columns] as const))(
    'replicas of schema %i go on beside new ones, and nothing is forgotten',
    async (version, columns) => {
      const schema = newSchema()
      await makeSchema(server.url, schema, version)
      const older = await openParts({ url: server.url, schema, between: run => without(columns, run) })
      await provision(older, 'before')
      expect(await finish(older, leaseOf(await claimOne(older)))).toBe(true)
      expect(await applyMigrations({ url: server.url, schema, ...patient })).toBe(migrations.length - version)
      const newer = await openStore({ url: server.url, schema })

      await provision(older, 'of-older')
      await provision(newer, 'of-newer')
      for (const [one, other] of [
        [older, newer],
        [newer, older],
      ] as const) {
        const claim = await claimOne(one)
        expect(await other.operation(claim.operation.id)).toEqual(claim.operation)
        expect(await finish(one, leaseOf(claim))).toBe(true)
      }
      await bind(older, 'of-newer', 'b')
      expect(await finish(older, leaseOf(await claimOne(older)))).toBe(true)

      const listed = { serviceId: 'service', planId: 'plan' }
      const instances = (await newer.listInstances({ ...listed, platform: 'cf', usable: true })).items
      expect(instances.map(({ id }) => id)).toEqual(expect.arrayContaining(['of-newer', 'of-older']))
      expect((await newer.listBindings(listed)).items.map(({ id }) => id)).toEqual(['b'])
      expect((await newer.listOperations({ action: 'bind' })).items).toHaveLength(1)
      expect((await newer.listOperations({ action: 'provision', by: 'accepted', after: 0 })).items).toHaveLength(3)
    },
  )

  it('what a replica of schema 9 deletes takes along what its operations have kept', async () => {
    const schema = newSchema()
    await makeSchema(server.url, schema, 9)
    const older = await openParts({ url: server.url, schema, between: run => run })
    const operation = await provision(older, 'i', { input: { parameters: { password: 'canary' } } })
    await applyMigrations({ url: server.url, schema, ...patient })
    const lease = leaseOf(await claimOne(older))
    await older.checkpoint(lease, { step: stepRow('create', { output: 'canary' }) })
    expect(await finish(older, lease)).toBe(true)
    expect((await older.operation(operation))?.input).toEqual({ parameters: { password: 'canary' } })
    await older.accept({ instanceId: 'i' }, ({ instance, now }) => ({
      answer: undefined,
      change: { instance: instance && { ...instance, phase: 'deleted', deletedAt: now } },
    }))
    expect((await older.operation(operation))?.input).toEqual({})
    expect(await older.steps(operation)).toEqual([stepRow('create')])
  })

  it('what a replica of schema 17 writes is in the lists that go by names and mistakes', async () => {
    const schema = newSchema()
    await makeSchema(server.url, schema, 17)
    const older = await openParts({ url: server.url, schema, between: run => without(keys, run) })
    await provision(older, 'before')
    await applyMigrations({ url: server.url, schema, ...patient })
    const newer = await openStore({ url: server.url, schema })
    await provision(older, 'after')
    const error = { message: 'no room', step: 'create', fingerprint: '0123456789abcdef' }
    for (const store of [older, newer]) {
      const lease = leaseOf(await claimOne(store))
      await store.finish(lease, ({ now, finishing }) => ({
        operations: [{ ...finishing, state: 'failed', finishedAt: now, error }],
      }))
    }
    for (const query of [{ step: error.step }, { fingerprint: error.fingerprint }, { serviceId: 'service' }]) {
      const { items } = await newer.listOperations({ state: 'failed', ...query })
      expect(items.map(({ instanceId }) => instanceId).sort()).toEqual(['after', 'before'])
    }
    await provision(older, 'ready')
    expect(await finish(older, leaseOf(await claimOne(older)))).toBe(true)
    const { items } = await newer.listOperations({ state: 'succeeded', serviceId: 'service' })
    expect(items.map(({ instanceId }) => instanceId)).toEqual(['ready'])
  })

  it.each([1, 2, 3])('a replica of schema %i forgets no pin that it does not know', async version => {
    const schema = newSchema()
    await makeSchema(server.url, schema, version)
    const older = await openParts({ url: server.url, schema, between: run => without(unknown[version - 1] ?? [], run) })
    await older.ping()
    await applyMigrations({ url: server.url, schema, ...patient })
    const newer = await openStore({ url: server.url, schema })
    await change(newer, {
      insertRevisions: [revisionRow('one'), revisionRow('two')],
      putServices: [serviceRow('service', 'two')],
    })
    await pin(newer, 'i', { revisionId: 'one', nextRevisionId: 'two' })
    const uses = await newer.revisionUses()
    expect(uses).toHaveLength(2)

    expect(await finish(older, leaseOf(await claimOne(older)))).toBe(true)
    expect(await newer.instance('i')).toMatchObject({ phase: 'ready', revisionId: 'one', nextRevisionId: 'two' })
    expect(await newer.revisionUses()).toEqual(uses)
    await change(newer, { deleteRevisions: ['one'] })
    expect(await idsIn(newer)).toEqual([['service'], ['one', 'two']])
  })
})

/** As a release that knew so many schemas has left it. */
async function makeSchema(url: string, schema: string, version: number): Promise<void> {
  const admin = await connect(url)
  await admin.query({ text: `create schema ${schema}` })
  for (const [index, migration] of migrations.slice(0, version).entries()) {
    await admin.query({ text: migration(`"${schema}"`) })
    await admin.query({ text: `insert into ${schema}.migration (number) values (${index + 1})` })
  }
  await admin.end()
}

/** Leaves the columns out of every row that a decision writes. */
function without(columns: readonly string[], run: Run): Run {
  const strip = (row: object) => Object.fromEntries(Object.entries(row).filter(([name]) => !columns.includes(name)))
  const older = (written: { instance?: object; bindings?: object[]; operations?: object[] }) => ({
    ...written,
    instance: written.instance && strip(written.instance),
    bindings: written.bindings?.map(strip),
    operations: written.operations?.map(strip),
  })
  return (statement, values) => {
    if (statement.name === 'purser_write')
      return run(
        statement,
        values.map((value, place) => (place === 4 ? JSON.stringify(older(JSON.parse(String(value)))) : value)),
      )
    const [checkpoints = null, writes = null, ...others] = values
    if (statement.name !== 'purser_gathered' || writes === null) return run(statement, values)
    const rows: { change: object }[] = JSON.parse(String(writes))
    return run(statement, [
      checkpoints,
      JSON.stringify(rows.map(row => ({ ...row, change: older(row.change) }))),
      ...others,
    ])
  }
}
