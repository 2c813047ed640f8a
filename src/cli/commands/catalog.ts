import { readCatalog } from '../catalog-lookup.ts'
import type { CliCommand } from '../command.ts'
import { renderCatalog } from '../render/tables.ts'
import { onBroker, type Session } from '../session.ts'

export function defineCommand(program: CliCommand): void {
  program
    .command('catalog')
    .description('show what a broker offers')
    .pagerOption()
    .connectionOptions()
    .examples('purser catalog', 'purser catalog --url https://broker.example.com --output json')
    .action(onBroker(showCatalog))
}

async function showCatalog(session: Session): Promise<void> {
  const services = await readCatalog(session)
  await session.show({ services }, renderCatalog(services))
}
