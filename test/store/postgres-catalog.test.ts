import { expect, it, onTestFinished } from 'vitest'
import { migrations } from '../../src/store/postgres/migrations.ts'
import { RevisionGoneError, type Store } from '../../src/store.ts'
import { change, idsIn, pin, revisionRow, serviceRow } from '../../src/testing/store-contract/catalog-rows.ts'
import { claimOne, finish, instanceRow, leaseOf } from '../../src/testing/store-contract/rows.ts'
import type { PostgresServer } from '../external/postgres.ts'
import { connect } from '../external/postgres-connection.ts'
import { hearOfCatalog, pick, raceForRevisions, raceForVersions } from './catalog-races.ts'
import { describeSharedPostgres, newSchema, openStore } from './postgres-subject.ts'

const everything = { deleteServices: ['service'], deleteRevisions: ['r', 's'] }

describeSharedPostgres('postgres: the catalog of several replicas', server => {
  it('never has an instance pinned to a revision that is gone', async () => {
    const { stores } = await openThree(server)
    await raceForRevisions(stores, 12)
  })

  it('takes one change of each version', async () => {
    const { stores } = await openThree(server)
    await raceForVersions(stores, 5)
  })

  it('wakes the others when it has changed', async () => {
    const { stores } = await openThree(server)
    expect(await hearOfCatalog(pick(stores, 0), pick(stores, 1))).toContainEqual({ type: 'catalog' })
  })

  it('waits for nobody who is pinning: what he needs stays, and its service too', async () => {
    const { stores, schema, admin } = await openThree(server)
    const store = pick(stores, 0)
    await retired(store)
    await admin.query({
      text: `begin; insert into ${schema}.instance (id, phase, last_operation_id, doc, sealed, sealed_state, revision_id)
        values ('i', 'ready', 'o', '${JSON.stringify(instanceRow('i', { revisionId: 'r' }))}', '{}', '{}', 'r')`,
    })
    await change(store, everything)
    expect(await idsIn(store)).toEqual([['service'], ['r', 's']])
    await admin.query({ text: 'rollback' })
    await change(store, everything)
    expect(await idsIn(store)).toEqual([[], []])
  })

  it.each(['commit', 'rollback'])('lets who pins wait for a deletion and its %s', async end => {
    const { stores, schema, admin } = await openThree(server)
    const store = pick(stores, 0)
    await retired(store)
    await admin.query({
      text: `begin; select * from ${schema}.change_catalog(1, true, 0, '[]', '{service}', '{r,s}', '[]', '{}', null)`,
    })
    const pinned = pin(store, 'i', { revisionId: 'r' }).catch(error => error)
    await admin.query({ text: end })
    if (end === 'commit') expect(await pinned).toBeInstanceOf(RevisionGoneError)
    else expect(await pinned).toBe('i')
    expect(await idsIn(store)).toEqual(end === 'commit' ? [[], []] : [['service'], ['r', 's']])
  })

  it('is added to a ledger of the first schema, whose instances can be pinned and listed', async () => {
    const schema = newSchema()
    const admin = await connect(server.url)
    onTestFinished(() => admin.end())
    const first = migrations[0]?.(`"${schema}"`)
    const row = { ...instanceRow('i'), parameters: undefined, state: undefined }
    await admin.query({
      text: `create schema ${schema}; ${first}
        insert into ${schema}.migration (number) values (1);
        insert into ${schema}.instance (id, phase, last_operation_id, doc, sealed, sealed_state)
          values ('i', 'creating', 'i:provision', '${JSON.stringify(row)}', '{"parameters": {}}', '{}')`,
    })
    const store = await openStore({ url: server.url, schema })
    expect(await store.instance('i')).toEqual(instanceRow('i'))
    expect(await store.revisionUses()).toEqual([])
    const { items } = await store.listInstances({ serviceId: 'service', platform: 'cf', usable: true })
    expect(items).toMatchObject([{ id: 'i', createdAt: 1 }])
    await retired(store)
    await pin(store, 'i', { revisionId: 'r' })
    expect(await finish(store, leaseOf(await claimOne(store)))).toBe(true)
    await change(store, everything)
    expect(await idsIn(store)).toEqual([['service'], ['r', 's']])
  })
})

/** A retired service with two revisions, of which `s` is current. */
async function retired(store: Store): Promise<void> {
  const revisions = [revisionRow('r'), revisionRow('s')]
  await change(store, { insertRevisions: revisions, putServices: [serviceRow('service', 's', 1)] })
}

async function openThree({ url }: Pick<PostgresServer, 'url'>) {
  const schema = newSchema()
  const stores = [await openStore({ url, schema }), await openStore({ url, schema }), await openStore({ url, schema })]
  const admin = await connect(url)
  onTestFinished(() => admin.end())
  return { stores, schema, admin }
}
