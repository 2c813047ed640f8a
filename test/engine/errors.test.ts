import { spawnSync } from 'node:child_process'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { describe, expect, it } from 'vitest'
import type { Service } from '../../src/index.ts'
import { sensitive, TerminalError } from '../../src/index.ts'
import { observeLines } from '../../src/observer/log.ts'
import { compileOnce } from '../sandbox/bundled.ts'
import { createWorld, minutes, seconds, takes } from './world.ts'

const child = await compileOnce('test/engine/unhandled-child.ts')

/** Runs a broker whose author leaves `what` behind, and tells what became of it. */
function leaveBehind(what: string) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [child, what], { encoding: 'utf8' })
  return { status, stderr, told: stdout === '' ? undefined : (JSON.parse(stdout) as Record<string, unknown>) }
}

const unhandled = { type: 'author.unhandled', action: 'provision', kind: 'rejection', message: 'left behind' }
const failed = { type: 'action.failed', message: 'a promise that was not awaited was rejected: left behind' }

describe('a rejection that nobody handles', () => {
  it.each([
    ['action', [{ ...unhandled, stack: true }, failed]],
    ['while it runs', [unhandled, failed]],
    ['step', [{ ...unhandled, step: 'create' }, failed]],
    [
      'undefined',
      [
        { ...unhandled, message: 'the provision threw undefined: throw an Error' },
        { type: 'action.failed', message: expect.stringContaining('the provision threw undefined') },
      ],
    ],
  ])('of an author (%s) fails its attempt, and the broker lives on', (what, events) => {
    const { status, told } = leaveBehind(what)
    expect(told).toMatchObject({ state: 'succeeded', runs: 2, events })
    expect(status).toBe(0)
  })

  it('of a step that was not awaited and has failed for good fails the operation', () => {
    const { told } = leaveBehind('floating step')
    expect(told).toMatchObject({ state: 'failed', runs: 1, events: [{ type: 'author.unhandled' }] })
  })

  it('that comes when the operation has ended is told, and changes nothing', () => {
    expect(leaveBehind('too late')).toMatchObject({
      status: 0,
      told: { state: 'succeeded', runs: 1, events: [{ ...unhandled, stack: true }] },
    })
  })

  it.each([
    ['callback while parked', 2],
    ['callback too late', 1],
  ])('in a callback that is called later (%s) is traced to its operation too', (what, runs) => {
    expect(leaveBehind(what)).toMatchObject({
      status: 0,
      told: { state: 'succeeded', runs, events: [{ ...unhandled, stack: true }] },
    })
  })

  it('of other code is told, and ends the process, as without a broker', () => {
    const { status, stderr, told } = leaveBehind('foreign')
    expect({ status, told }).toMatchObject({
      status: 1,
      told: { type: 'process.unhandled', message: 'not of an author' },
    })
    expect(stderr).toContain('Error: not of an author')
  })
})

it('a message that is too long for a description is cut, and not inside a character', async () => {
  const message = `${'x'.repeat(9_998)}😀${'x'.repeat(9_000)}`
  const { clock, boot } = createWorld({
    service: {
      async provision() {
        throw new TerminalError(message)
      },
    },
  })
  const process = await boot()
  const operation = await process.provision('i')
  await clock.advance(1)
  expect(await process.poll('i', operation)).toMatchObject({ description: `${'x'.repeat(9_998)}…` })
})

it('an error in a timer of an author ends the process, as Node.js has it, and names the operation', () => {
  const { status, told } = leaveBehind('timer')
  expect(told).toMatchObject({
    type: 'author.unhandled',
    kind: 'exception',
    action: 'provision',
    message: 'in a timer',
  })
  expect(status).not.toBe(0)
})

describe('a step that ends the run', () => {
  it('is seen by no catch and no finally, and nothing after it runs', async () => {
    const seen: string[] = []
    let failures = 2
    const world = createWorld({
      service: {
        async provision(ctx) {
          seen.push('run')
          try {
            await ctx.step('create', () => {
              if (failures-- > 0) throw new Error('not yet')
            })
            seen.push('created')
          } catch (error) {
            seen.push(`caught ${error}`)
          } finally {
            seen.push('finally')
          }
        },
      },
    })
    const process = await world.boot()
    const operation = await process.provision('i')
    await world.clock.advance(seconds(10))
    expect(await process.poll('i', operation)).toMatchObject({ state: 'succeeded' })
    expect(seen).toEqual(['run', 'run', 'run', 'created', 'finally'])
  })

  it('aborts ctx.signal, so that what the action holds can be given back', async () => {
    const reasons: string[] = []
    let failures = 1
    const world = createWorld({
      service: {
        async provision(ctx) {
          ctx.signal.addEventListener('abort', () => reasons.push(String(ctx.signal.reason)))
          await ctx.step('create', () => {
            if (failures-- > 0) throw new Error('not yet')
          })
        },
      },
    })
    const process = await world.boot()
    await process.provision('i')
    await world.clock.advance(500)
    expect(reasons).toEqual(['AbortError: this run of the action is over'])
  })

  it('a failure that is final is caught, and the action may go another way', async () => {
    const world = createWorld({
      service: {
        async provision(ctx) {
          const where = await ctx
            .step('here', () => {
              throw new TerminalError('No room here.')
            })
            .catch((error: Error) => error.message)
          await ctx.step('there', () => undefined)
          return { state: { where } }
        },
      },
    })
    const process = await world.boot()
    const operation = await process.provision('i')
    await world.clock.advance(seconds(1))
    expect(await process.poll('i', operation)).toMatchObject({ state: 'succeeded' })
    expect((await world.ledger.instance('i'))?.state).toEqual({ where: 'No room here.' })
  })

  it('beside others: those that are under way are committed, none begins', async () => {
    const calls: string[] = []
    let failures = 1
    const world = createWorld({
      service: {
        async provision(ctx) {
          const slow = async () => {
            await ctx.step('slow', async () => {
              await takes(world.clock, seconds(1))
              calls.push('slow')
            })
            await ctx.step('after slow', () => void calls.push('after slow'))
          }
          const bad = () => {
            calls.push('bad')
            if (failures-- > 0) throw new Error('not yet')
          }
          const settled = await Promise.allSettled([slow(), ctx.step('bad', bad)])
          calls.push(settled.map(({ status }) => status).join())
        },
      },
    })
    const process = await world.boot()
    const operation = await process.provision('i')
    await world.clock.advance(seconds(10))
    expect(await process.poll('i', operation)).toMatchObject({ state: 'succeeded' })
    expect(calls).toEqual(['bad', 'slow', 'bad', 'after slow', 'fulfilled,fulfilled'])
  })

  it('by a lost lease or an outage is not seen either', async () => {
    const seen: unknown[] = []
    const world = createWorld({
      service: {
        async provision(ctx) {
          await ctx.step('slow', () => takes(world.clock, minutes(5))).catch(error => seen.push(error))
        },
      },
    })
    const process = await world.boot()
    await process.provision('i')
    await world.clock.advance(seconds(1))
    await process.deprovision('i')
    await world.clock.advance(minutes(10))
    expect(seen).toEqual([])
    expect(world.watch.active()).toEqual([])
  })

  it('leaves nothing in memory', async () => {
    setFlagsFromString('--expose-gc')
    const collect = runInNewContext('gc') as () => void
    const held: WeakRef<object>[] = []
    const world = createWorld({
      service: {
        async provision(ctx) {
          const connection = { of: ctx.instance.id }
          held.push(new WeakRef(connection))
          await ctx.step('create', () => {
            throw new Error('never')
          })
          expect(connection).toBeDefined()
        },
      },
    })
    const process = await world.boot()
    for (let index = 0; index < 200; index += 1) await process.provision(`i${index}`)
    await world.clock.advance(minutes(4))
    expect(held.length).toBeGreaterThan(1_000)
    for (let turn = 0; turn < 5; turn += 1) {
      await new Promise(resolve => setImmediate(resolve))
      collect()
    }
    const alive = held.filter(reference => reference.deref() !== undefined).length
    expect(alive).toBeLessThan(50)
  })
})

describe('what an author throws', () => {
  it.each<[unknown, string]>([
    [undefined, 'threw undefined: throw an Error'],
    [null, 'threw null: throw an Error'],
    ['no room', 'threw the text "no room": throw an Error'],
    [{ reason: 'secret' }, 'threw an object that is not an Error: throw an Error'],
  ])('%o is named as what it is', async (thrown, message) => {
    const { lines, run } = recorded({
      async provision(ctx) {
        if (ctx.operation.attempt === 1) throw thrown
        await ctx.step('create', () => {
          throw thrown
        })
      },
    })
    await run()
    expect(lines).toContainEqual(
      expect.objectContaining({ text: 'action failed, trying again', message: `the provision ${message}` }),
    )
    expect(lines).toContainEqual(
      expect.objectContaining({
        text: 'step failed, trying again',
        step: 'create',
        message: `the step "create" ${message}`,
      }),
    )
  })

  it('is logged with its stack, its causes and its step', async () => {
    const { lines, run } = recorded({
      async provision(ctx) {
        await ctx.step('create', () => {
          const root = new Error('the disk is full')
          throw new Error('cannot create', { cause: new Error('the server said no', { cause: root }) })
        })
      },
    })
    await run()
    expect(lines[0]).toMatchObject({
      text: 'step failed, trying again',
      step: 'create',
      message: 'cannot create',
      cause: 'the server said no, because the disk is full',
      stack: expect.stringContaining('errors.test.ts'),
    })
  })
})

it('the log shows no password that stands in a URL in an error', async () => {
  const { lines, run } = recorded({
    async provision(ctx) {
      const cause = new Error('connect postgres://admin:s3cret-1@db.example/x failed')
      const inner = new AggregateError([new Error('https://admin:s3cret-2@db.example')], 'all failed')
      ctx.log.info('see', { error: inner, at: 'amqp://me:s3cret-3@mq' })
      throw new Error('cannot reach http://me:s3cret-4@db.example:80/a', { cause })
    },
  })
  await run()
  const text = JSON.stringify(lines)
  expect(text).toContain('cannot reach http://[hidden]@db.example:80/a')
  expect(text).toContain('connect postgres://[hidden]@db.example/x failed')
  expect(text).not.toContain('s3cret')
})

it('ctx.log writes with the operation and the step, without secrets', async () => {
  const { lines, run } = recorded({
    async provision(ctx) {
      ctx.log.info('begins', { size: 3, key: sensitive('hidden'), note: 'it is hidden' })
      await ctx.step('create', async () => {
        await Promise.resolve()
        ctx.log.warn('is slow')
      })
      ctx.log.error('odd', { error: new Error('x') })
    },
  })
  const operation = await run()
  const fields = { operationId: operation, action: 'provision', instanceId: 'i', attempt: 1 }
  expect(lines.slice(0, 3)).toMatchObject([
    { level: 'info', text: 'begins', ...fields, size: 3, key: '[redacted]', note: 'it is [redacted]' },
    { level: 'warn', text: 'is slow', ...fields, step: 'create' },
    { level: 'error', text: 'odd', ...fields },
  ])
  expect(lines[0]).not.toHaveProperty('step')
  expect(lines[2]).not.toHaveProperty('step')
})

/** A provision whose log is kept, and run for a few seconds. */
function recorded(service: Partial<Service>) {
  const lines: object[] = []
  const world = createWorld({
    service,
    observer: observeLines('info', ({ level, event, text, fields }) => {
      if (event === 'request.ended') return
      const { error, ...rest } = fields
      lines.push({ level, text, ...rest, ...(typeof error === 'object' ? error : {}) })
    }),
  })
  return {
    lines,
    async run() {
      const process = await world.boot()
      const operation = await process.provision('i')
      await world.clock.advance(seconds(5))
      return operation
    },
  }
}
