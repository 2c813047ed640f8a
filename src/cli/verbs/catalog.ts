import { readCatalog } from '../catalog-lookup.ts'
import type { CliIo } from '../io.ts'
import { renderCatalog } from '../render/catalog.ts'
import type { ConnectionOptions } from '../session.ts'
import { openSession } from '../session.ts'

export async function runCatalog(io: CliIo, options: ConnectionOptions): Promise<void> {
  const session = openSession(io, options)
  const services = await readCatalog(session)
  session.print({ services }, renderCatalog(services))
}
