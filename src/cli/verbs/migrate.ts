import { migrateStore, previewMigration } from '../../server/migrate.ts'
import type { MigrateCommandOptions } from '../commands/migrate.ts'
import type { CliIo } from '../io.ts'

export async function runMigrate(io: CliIo, { dryRun = false, store, config }: MigrateCommandOptions): Promise<void> {
  const options = { store, config, env: io.env, cwd: io.cwd }
  io.stdout.write(dryRun ? await previewMigration(options) : `${await migrateStore(options)}\n`)
}
