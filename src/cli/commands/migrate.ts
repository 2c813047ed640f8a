import type { MigrateOptions } from '../../server/migrate.ts'
import type { CliCommand } from '../command.ts'

interface CommandOptions extends Pick<MigrateOptions, 'store' | 'config'> {
  readonly dryRun?: boolean
}

export function defineCommand(program: CliCommand): void {
  program
    .command('migrate')
    .description('bring the store up to date before a new release is started')
    .storeOptions()
    .option('--dry-run', 'change nothing: print the SQL that would run, as a script for psql')
    .explain(
      "A broker does the same by itself when it starts. Run it before where the broker's own user must not",
      'change the schema, or where somebody wants to see the SQL first.',
    )
    .examples(
      'purser migrate --config purser.yaml',
      'purser migrate --dry-run --store postgres://broker@db.example.com/purser > migration.sql',
    )
    .action(async ({ dryRun = false, ...given }: CommandOptions) => {
      const { migrateStore, previewMigration } = await import('../../server/migrate.ts')
      const { env, cwd, stdout } = program.io
      const options = { ...given, env, cwd }
      stdout.write(dryRun ? await previewMigration(options) : `${await migrateStore(options)}\n`)
    })
}
