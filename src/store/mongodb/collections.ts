import type { Collection, Db } from 'mongodb'
import type {
  BindingDocument,
  CatalogDocument,
  ChoreDocument,
  ClaimDocument,
  HistoryDocument,
  InstanceDocument,
  LaneDocument,
  MetaDocument,
  OperationDocument,
  RegistryDocument,
  RevisionDocument,
  RevisionTextDocument,
  ServiceDocument,
  SharedDocument,
} from './documents.ts'

export interface Collections {
  readonly meta: Collection<MetaDocument>
  readonly instance: Collection<InstanceDocument>
  readonly binding: Collection<BindingDocument>
  readonly operation: Collection<OperationDocument>
  readonly history: Collection<HistoryDocument>
  readonly shared: Collection<SharedDocument>
  readonly claim: Collection<ClaimDocument>
  readonly chore: Collection<ChoreDocument>
  readonly catalog: Collection<CatalogDocument>
  readonly registry: Collection<RegistryDocument>
  readonly service: Collection<ServiceDocument>
  readonly revision: Collection<RevisionDocument>
  readonly revisionText: Collection<RevisionTextDocument>
  readonly lane: Collection<LaneDocument>
}

export function collectionsOf(db: Db, prefix: string): Collections {
  return {
    meta: db.collection(`${prefix}meta`),
    instance: db.collection(`${prefix}instance`),
    binding: db.collection(`${prefix}binding`),
    operation: db.collection(`${prefix}operation`),
    history: db.collection(`${prefix}history`),
    shared: db.collection(`${prefix}shared`),
    claim: db.collection(`${prefix}claim`),
    chore: db.collection(`${prefix}chore`),
    catalog: db.collection(`${prefix}catalog`),
    registry: db.collection(`${prefix}registry`),
    service: db.collection(`${prefix}service`),
    revision: db.collection(`${prefix}revision`),
    revisionText: db.collection(`${prefix}revision_text`),
    lane: db.collection(`${prefix}lane`),
  }
}
