import { compareText } from '../../domain/catalog-state.ts'
import type { RegistryState, RevisionUse, StoredCatalog, StoredRegistries } from '../../store.ts'
import { inOrder, sumUses } from '../pins.ts'
import { type Database, lookup, readWithTime } from './database.ts'
import type { CatalogDocument, RegistryDocument } from './documents.ts'

/** Always true, and leads to the index. */
const all = { _id: { $gte: '' } }

/** A transaction, so that all of it is of one version; not where the version is known, which is nearly always. */
export async function readCatalog(ledger: Database, known: number | undefined): Promise<StoredCatalog | undefined> {
  const { catalog, service, revision, revisionText } = ledger.collections
  const current = await catalog.findOne({ _id: 'catalog' }, { projection: { version: 1 } })
  if (current?.version === known) return undefined
  return ledger.transactions.run(async session => {
    const { version = 0 } = (await catalog.findOne({ _id: 'catalog' }, { session })) ?? {}
    const services = await service.find(all, { session, projection: { doc: 1 } }).toArray()
    const rows = await revision.find(all, { session, projection: { text: 1 } }).toArray()
    const stored = new Set(rows.map(({ text }) => text.toHexString()))
    const texts = await revisionText.find({ version: { $gte: 0 } }, { session, projection: { doc: 1 } }).toArray()
    return inOrder({
      version,
      services: services.map(({ doc }) => JSON.parse(doc)),
      revisions: texts.flatMap(({ _id, doc }) => (stored.has(_id.toHexString()) ? [JSON.parse(doc)] : [])),
    })
  })
}

interface FoundRegistries {
  readonly catalog: readonly CatalogDocument[]
  readonly registries: readonly RegistryDocument[]
}

export async function readRegistries(ledger: Database): Promise<StoredRegistries> {
  const { catalog, registry } = ledger.collections
  const found = await readWithTime<FoundRegistries>(ledger, [
    lookup('catalog', catalog, { $match: all }),
    lookup('registries', registry, { $match: all }),
  ])
  const registries = found.registries.map(({ doc }): RegistryState => JSON.parse(doc))
  const { changedAt: at, report } = found.catalog[0] ?? {}
  return {
    now: found.now,
    registries: registries.sort((a, b) => compareText(a.name, b.name)),
    lastChange: at === undefined || report === undefined ? undefined : { at, report: JSON.parse(report) },
  }
}

export async function readUses({ collections }: Database): Promise<readonly RevisionUse[]> {
  const found = await collections.instance
    .aggregate<{ _id: { revision: string; plan: string }; instances: number }>([
      { $match: { pins: { $gte: '' } } },
      { $unwind: '$pins' },
      { $group: { _id: { revision: '$pins', plan: '$plan' }, instances: { $sum: 1 } } },
    ])
    .toArray()
  return sumUses(
    found.map(({ _id, instances }) => ({ revisionId: _id.revision, planId: JSON.parse(_id.plan), instances })),
  )
}
