import { type CliCommand, createNameParser } from '../command.ts'
import { readList } from '../read-list.ts'
import { refusal } from '../refusal.ts'
import { renderBatches, renderBatchItems } from '../render/batches.ts'
import { onBroker, type Session } from '../session.ts'

const id = '0197a7c2-7f5e-7cc0-93a1-55d2e1a2b3c4'

export function defineCommand(program: CliCommand): void {
  const batches = program
    .command('batches')
    .description('look at what was done to many at once, and stop it')
    .examples('purser batches list', `purser batches items ${id}`)
  batches
    .command('list')
    .description('list batches, the newest first')
    .limitOption()
    .connectionOptions()
    .examples('purser batches list', 'purser batches list --output json')
    .action(onBroker(listBatches))
  batches
    .command('show')
    .argument('<batch>', 'id of the batch', parseBatch)
    .description('show how a batch stands')
    .connectionOptions()
    .examples(`purser batches show ${id}`)
    .action(onBroker(showBatch))
  batches
    .command('items')
    .argument('<batch>', 'id of the batch, or the token of a dry run', parseBatch)
    .description('list the items of a batch, with the outcome of each')
    .limitOption()
    .connectionOptions()
    .examples(`purser batches items ${id} --limit 1000`)
    .action(onBroker(listItems))
  batches
    .command('stop')
    .argument('<batch>', 'id of the batch', parseBatch)
    .description('begin no other item of a batch')
    .option('--reason <text>', 'why; it is kept in the history')
    .connectionOptions()
    .examples(`purser batches stop ${id} --reason "they fail for another reason"`)
    .action(onBroker(stopBatch))
}

const parseBatch = createNameParser('the id of a batch', 'purser batches list shows the batches there are.')

async function listBatches(session: Session): Promise<void> {
  const list = await readList(session, 'batches', ({ order: _order, ...page }) => session.admin.batches(page))
  await session.show(list, renderBatches(list.items))
}

async function showBatch(session: Session, name: string): Promise<void> {
  const response = await session.admin.batch(name)
  if (response.status !== 200) throw refusal(`could not read the batch ${name}`, response)
  session.printFields(response.body)
}

async function listItems(session: Session, name: string): Promise<void> {
  const list = await readList(session, 'items', ({ order: _order, ...page }) => session.admin.batchItems(name, page))
  await session.show(list, renderBatchItems(list.items))
}

async function stopBatch(session: Session, name: string, { reason }: { readonly reason?: string }): Promise<void> {
  const response = await session.admin.stopBatch(name, { reason })
  if (response.status !== 202) throw refusal(`could not stop the batch ${name}`, response)
  session.printFields(response.body)
}
