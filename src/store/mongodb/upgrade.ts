import type { Collection, Document } from 'mongodb'
import type { Collections } from './collections.ts'
import { isCode, serverCodes } from './driver.ts'
import { listedBinding, listedInstance, listedOperation } from './rows.ts'

/** Gives the documents of the schemas before the third what lists go by. Interrupted, or done twice, it does no harm. */
export async function addListed({ instance, binding, operation }: Collections): Promise<void> {
  await add(instance, row => listedInstance(JSON.parse(row.doc)))
  await add(binding, row => listedBinding(JSON.parse(row.doc)))
  await add(operation, row => listedOperation({ ...JSON.parse(row.doc), state: row.state }))
  await operation.dropIndex('by_instance').catch(error => {
    if (!isCode(error, serverCodes.indexNotFound)) throw error
  })
}

async function add<Row extends Document>(
  rows: Collection<Row>,
  listedOf: (row: { readonly doc: string; readonly state: never }) => object,
): Promise<void> {
  const collection = rows as unknown as Collection
  const old = collection.find(
    { listed: { $exists: false }, doc: { $exists: true } },
    { projection: { doc: 1, state: 1 } },
  )
  // What was written meanwhile has it already, or another text.
  for await (const { _id, doc, state } of old)
    await collection.updateOne(
      { _id, doc, listed: { $exists: false } },
      { $set: { listed: listedOf({ doc, state } as never) } },
    )
}
