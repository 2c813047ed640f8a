import { cp, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createOsbClient, pollUntilDone } from '../../src/client/index.ts'
import { useBuiltPackage } from '../cli/built-package.ts'
import { type Block, blocksOf, guides, pages, root } from './pages.ts'
import { type Session, startSession } from './session.ts'

const built = useBuiltPackage()
const transcripts = guides
  .map(page => [page, blocksOf(page).filter(({ language }) => language === 'console')] as const)
  .filter(([, blocks]) => blocks.length > 0)

/** `run`: in the shell. `serve: folder`: in another window. `demo`: in the shell, beside a demo broker. */
const markers = ['run', 'serve', 'demo']

describe('what the guides show', { timeout: 120_000 }, () => {
  it('is marked with how it is run', () => {
    expect(transcripts.map(([page]) => page)).toEqual(['docs/guides/first-broker.md', 'docs/guides/running.md'])
    for (const block of transcripts.flatMap(([, blocks]) => blocks)) expect(markers).toContain(block.marker)
  })

  it.each(transcripts)('%s is what happens', async (_, blocks) => {
    const session = await startSession(built)
    onTestFinished(() => session.end())
    if (blocks.some(({ marker }) => marker === 'demo')) await session.serve('purser serve --demo')
    for (const block of blocks) await replay(session, block)
  })
})

describe('the example of README.md', { timeout: 120_000 }, () => {
  const examples = pages.flatMap(blocksOf).filter(({ marker }) => marker === 'example')

  it('is the sample, to the letter', async () => {
    expect(examples.map(({ page }) => page)).toEqual(['README.md'])
    for (const { argument, text } of examples) expect(text).toBe(await readFile(join(root, argument), 'utf8'))
  })

  it('works: provision, bind, unbind, deprovision', async () => {
    const session = await startSession(built)
    onTestFinished(() => session.end())
    await cp(join(root, 'samples', 'hello-broker'), session.home, { recursive: true })
    await session.serve('purser serve broker.mjs --store memory:')
    const client = createOsbClient({ url: session.url })
    const ids = { service_id: 'com.example.greeter', plan_id: 'com.example.greeter.free' }
    const context = { organization_guid: 'o', space_guid: 's' }
    const parameters = { greeting: 'Ahoy' }

    const accepted = await client.provision('hello', { ...ids, context, parameters }, { acceptsIncomplete: true })
    expect(accepted.status).toBe(202)
    const target = {
      action: 'provision',
      instanceId: 'hello',
      operation: accepted.body.operation ?? undefined,
    } as const
    expect(await pollUntilDone(client, target, { maximum: 60_000 })).toMatchObject({ state: 'succeeded' })
    expect((await client.bind('hello', 'world', ids)).body).toEqual({ credentials: { text: 'Ahoy, world!' } })
    expect((await client.unbind('hello', 'world', ids)).status).toBe(200)
    expect((await client.deprovision('hello', ids)).status).toBe(200)
    expect((await client.deprovision('hello', ids)).status).toBe(410)
  })
})

async function replay(session: Session, block: Block): Promise<void> {
  const seen: string[] = []
  for (const [, command = ''] of block.text.matchAll(/^\$ (.*)$/gm)) {
    seen.push(`$ ${command}\n`)
    if (block.marker === 'serve') await session.serve(command, block.argument)
    else {
      const { code, out, err } = await session.run(command)
      const shown = out + (code === 0 ? '' : err)
      seen.push(shown === '' || shown.endsWith('\n') ? shown : `${shown}\n`)
    }
  }
  const where = `${block.page}:${block.line}`
  expect(masked(seen.join('').replaceAll(session.home, '/home/me')), where).toBe(masked(block.text))
}

/** What differs from run to run. */
function masked(text: string): string {
  return text
    .replaceAll(/\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/g, '<operation>')
    .replaceAll(/\b[0-9a-f]{64}\.[\w-]{32}/g, '<token>')
    .replaceAll(/127\.0\.0\.1:\d+/g, '127.0.0.1:8080')
    .replaceAll(/(scrypt\$\d+\$\d+\$\d+)\$[\w-]{22}\$[\w-]{43}/g, '$1$<salt>$<hash>')
}
