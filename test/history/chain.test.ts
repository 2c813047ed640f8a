import { createHash } from 'node:crypto'
import { expect, it } from 'vitest'
import { proveChain } from '../../src/broker/history/link-history.ts'
import { readChainLines } from '../../src/broker/history/read-chain.ts'
import type { HistoryEvent, Store } from '../../src/store.ts'
import { testKeyring } from '../store/test-keyring.ts'
import { describeTampered, linkAll, type RawLine, type TamperedLedger, verify, write } from './tampered-ledger.ts'

const day = 86_400_000

/** Ten lines about two instances, with who it was. */
function lines(from = 1, count = 10): readonly HistoryEvent[] {
  return Array.from({ length: count }, (_, index) => {
    const message = `line ${from + index}`
    const who = { identity: { user: 'ada' }, principal: 'cf', address: '10.0.0.1', requestId: 'r' }
    return { at: (from + index) * day, type: 'accepted', instanceId: index % 2 ? 'i' : 'j', message, ...who } as const
  })
}

async function filled(ledger: TamperedLedger, keyring = testKeyring('2026-a')): Promise<Store> {
  const store = await ledger.open(keyring)
  await write(store, ...lines())
  expect(await linkAll(store)).toBe('put 10 lines into the chain')
  return store
}

/** What somebody does to the rows, with all rights in the database. */
async function tamper(ledger: TamperedLedger, change: (rows: readonly RawLine[]) => readonly RawLine[]) {
  await ledger.replace(change(await ledger.rows()))
}

function edited(row: RawLine, from: string, to: string): RawLine {
  expect(row.doc).toContain(from)
  return { ...row, doc: row.doc.replace(from, to) }
}

/** Hashes as whoever has read this code can make them, who does not have the key. */
function rewritten(rows: readonly RawLine[]): readonly RawLine[] {
  let previous = '0'.repeat(64)
  return rows.map((row, index) => {
    const no = index + 1
    // Who asked is in clear, as a broker without a key would write it.
    const event = { ...JSON.parse(row.doc), identity: { user: 'ada' } }
    const { at, instanceId, requestId, ...rest } = event
    const entry = { ...rest, no, at: new Date(at).toISOString(), instance_id: instanceId, request_id: requestId }
    previous = createHash('sha256')
      .update(`${previous}\n${sorted(entry)}`)
      .digest('hex')
    return { ...row, doc: JSON.stringify(event), no, hash: previous }
  })
}

/** The 20 lines that another program needs: canonical JSON, and the hash of each line with the one before it. */
function sorted(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(sorted).join(',')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const fields = Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1))
  return `{${fields.map(([key, field]) => `${JSON.stringify(key)}:${sorted(field)}`).join(',')}}`
}

function verifyExport(text: string, previous = '0'.repeat(64), before = 0): number {
  for (const line of text.split('\n').filter(Boolean)) {
    const { no, hash, entry } = JSON.parse(line)
    const expected = createHash('sha256')
      .update(`${previous}\n${sorted(entry)}`)
      .digest('hex')
    if (no !== before + 1 || entry.no !== no || hash !== expected) throw new Error(`line ${no} is wrong`)
    previous = hash
    before = no
  }
  return before
}

describeTampered('the chain of the history', newLedger => {
  it('is verified, also by another program, and says what is not in it yet', async () => {
    const ledger = newLedger()
    const store = await filled(ledger)
    await write(store, ...lines(11, 2))
    const { status, ...found } = await verify(store)
    expect(found).toEqual({ lines: 10, fault: undefined })
    expect(status).toMatchObject({ proof: 'proven', key: '2026-a', unlinked: 2, strays: 0, head: { no: 10 } })
    const exported = (await readChainLines(store, 0, 100)).map(line => `${JSON.stringify(line)}\n`).join('')
    expect(verifyExport(exported)).toBe(10)
    expect(() => verifyExport(exported.replace('ada', 'bob'))).toThrow('is wrong')
    // One that was known before is still in it, and goes on.
    expect(await linkAll(store)).toBe('put 2 lines into the chain')
    expect(await verify(store, status.head)).toMatchObject({ lines: 12, fault: undefined })
  })

  const fourth = (change: (row: RawLine) => RawLine) => (rows: readonly RawLine[]) =>
    rows.map((row, index) => (index === 3 ? change(row) : row))
  const changed = { no: 4, kind: 'changed' }

  it.each<[string, object, (rows: readonly RawLine[]) => readonly RawLine[]]>([
    ['a line is changed', changed, fourth(row => edited(row, 'line 4', 'line 5'))],
    ['a time is changed', changed, fourth(row => edited(row, '"at":', '"at":1'))],
    ['a field is added', changed, fourth(row => edited(row, '{', '{"by":"me",'))],
    ['who asked cannot be read', changed, fourth(row => edited(row, '"e1:2026-a:', '"e1:2026-a:AAAA'))],
    [
      'a line is given to another instance',
      changed,
      rows => fourth(row => ({ ...row, instance: at(rows, 4).instance }))(rows),
    ],
    ['a hash is changed', changed, fourth(row => ({ ...row, hash: 'f'.repeat(64) }))],
    ['a line is deleted', { no: 4, kind: 'missing' }, rows => rows.toSpliced(3, 1)],
    ['the first line is deleted', { no: 1, kind: 'missing' }, rows => rows.toSpliced(0, 1)],
    ['all are deleted', { no: 1, kind: 'missing' }, () => []],
    ['the end is cut off', { no: 8, kind: 'missing' }, rows => rows.slice(0, 7)],
    ['a line is put in', changed, rows => renumbered(rows.toSpliced(3, 0, at(rows, 6)))],
    ['a line is there twice', { no: 3, kind: 'added' }, rows => rows.toSpliced(3, 0, at(rows, 2))],
    ['a line is put behind the end', { no: 11, kind: 'missing' }, rows => [...rows, { ...at(rows, 9), no: 99 }]],
    ['a line is put before the beginning', { no: 10, kind: 'added' }, rows => [{ ...at(rows, 9), no: -3 }, ...rows]],
    ['two lines change places', changed, rows => renumbered(rows.toSpliced(3, 2, at(rows, 4), at(rows, 3)))],
    [
      'the chain is written anew',
      { no: 10, kind: 'unlike-head' },
      rows => rewritten(fourth(row => edited(row, 'line 4', 'line 5'))(rows)),
    ],
    ['the chain is written anew without a line', { no: 10, kind: 'missing' }, rows => rewritten(rows.toSpliced(3, 1))],
  ])('%s: it is found', async (_name, fault, change) => {
    const ledger = newLedger()
    await (await filled(ledger)).close()
    await tamper(ledger, change)
    const store = await ledger.open(testKeyring('2026-a'))
    expect((await verify(store)).fault).toMatchObject(fault)
  })

  it('a line is given to another instance where nothing is encrypted: it is found', async () => {
    const ledger = newLedger()
    const store = await ledger.open()
    await write(store, ...lines())
    await linkAll(store)
    await store.close()
    await tamper(ledger, rows => fourth(row => ({ ...row, instance: at(rows, 4).instance }))(rows))
    expect((await verify(await ledger.open())).fault).toMatchObject(changed)
  })

  it('whoever has all rights but not the key cannot make it look right', async () => {
    const ledger = newLedger()
    await (await filled(ledger)).close()
    const rows = rewritten((await ledger.rows()).toSpliced(3, 1))
    await ledger.replace(rows)
    const { no, hash } = rows.at(-1) as RawLine
    const note = JSON.parse(await ledger.note())
    // With the proof of another end, with none, and without the note.
    const head = { no, hash }
    for (const [doc, message] of [
      [{ ...note, head }, /its end was not written by a broker with the key "2026-a"/],
      [{ anchor: note.anchor, head }, /its end is not proven by a key, though there is one/],
    ] as const) {
      await ledger.replaceNote(JSON.stringify(doc))
      const store = await ledger.open(testKeyring('2026-a'))
      const { lines: right, fault } = await verify(store)
      expect([right, fault]).toEqual([9, { no: 9, kind: 'unproven', message: expect.stringMatching(message) }])
      await store.close()
    }
    await ledger.replaceNote(JSON.stringify({ ...note, head }))
    const wrong = await ledger.open(testKeyring('2026-a'))
    await write(wrong, ...lines(11, 1))
    await expect(linkAll(wrong)).rejects.toThrow('was written by somebody who does not have the key "2026-a"')
    await wrong.close()
    await ledger.replaceNote(undefined)
    const gone = await ledger.open(testKeyring('2026-a'))
    await expect(linkAll(gone)).rejects.toThrow('the note that says where the chain of the history ends is gone')
    expect((await verify(gone)).fault).toMatchObject({ kind: 'added' })
  })

  it('an end that is cut off, with its note, is found by a head that was noted elsewhere', async () => {
    const ledger = newLedger()
    const store = await ledger.open()
    await write(store, ...lines(1, 7))
    await linkAll(store)
    await store.close()
    const early = await ledger.note()
    const later = await ledger.open()
    await write(later, ...lines(8, 3))
    await linkAll(later)
    const { head } = (await verify(later)).status
    await later.close()
    await tamper(ledger, rows => rows.slice(0, 7))
    await ledger.replaceNote(early)
    const cut = await ledger.open()
    expect((await verify(cut)).fault).toBeUndefined()
    const message = 'the chain ends with line 7, and had 10 lines'
    expect((await verify(cut, head)).fault).toEqual({ no: 8, kind: 'missing', message })
    // So is one that was written anew with as many lines.
    await write(cut, ...lines(21, 3))
    await linkAll(cut)
    expect((await verify(cut)).fault).toBeUndefined()
    expect((await verify(cut, head)).fault).toMatchObject({ no: 10, kind: 'unlike-head' })
  })

  it('a chain that was begun without a key is proven once an operator says so, and by the next key after a rotation', async () => {
    const ledger = newLedger()
    const plain = await ledger.open()
    await write(plain, ...lines(1, 3))
    await linkAll(plain)
    expect(await verify(plain)).toMatchObject({ status: { proof: 'none', keyed: false } })
    expect((await verify(plain)).fault).toBeUndefined()
    await plain.close()
    const first = await ledger.open(testKeyring('2026-a'))
    await write(first, ...lines(4, 3))
    await linkAll(first)
    expect((await verify(first)).fault).toMatchObject({ kind: 'unproven' })
    await proveChain(first)
    expect(await verify(first)).toMatchObject({ status: { proof: 'proven', key: '2026-a' } })
    await first.close()
    const second = await ledger.open(testKeyring('2026-b', '2026-a'))
    await proveChain(second)
    for (let from: string | undefined, isFirst = true; isFirst || from !== undefined; isFirst = false)
      from = (await second.sealing?.sealAgain(from, 100))?.next
    await second.close()
    const third = await ledger.open(testKeyring('2026-b'))
    await write(third, ...lines(7, 1))
    await linkAll(third)
    expect(await verify(third)).toMatchObject({
      lines: 7,
      fault: undefined,
      status: { proof: 'proven', key: '2026-b' },
    })
  })

  it('old lines go from its beginning, and the rest is verified from there', async () => {
    const store = await filled(newLedger())
    const { head } = (await verify(store)).status
    const settings = { history: { keep: '5d' } } as const
    expect(await linkAll(store, 9 * day, settings)).toBe('removed 3 old lines')
    expect(await linkAll(store, 9 * day, settings)).toBeUndefined()
    const { status, ...found } = await verify(store, head)
    expect([found, status.anchor.no]).toEqual([{ lines: 7, fault: undefined }, 3])
    expect((await verify(store, { no: 2, hash: head.hash })).fault).toMatchObject({
      kind: 'unlike-head',
      message: expect.stringContaining('removed because of their age'),
    })
    expect((await verify(store, { no: 3, hash: head.hash })).fault).toMatchObject({ no: 3, kind: 'unlike-head' })
    expect(await linkAll(store, 99 * day, settings)).toBe('removed 7 old lines')
    expect((await verify(store, head)).fault).toBeUndefined()
    await write(store, ...lines(101, 2))
    expect(await linkAll(store, 99 * day, settings)).toBe('put 2 lines into the chain')
    expect(await verify(store, head)).toMatchObject({ lines: 2, fault: undefined, status: { head: { no: 12 } } })
  })

  it('nothing that is not in the chain yet is too old, and what was changed is not removed', async () => {
    const ledger = newLedger()
    const store = await ledger.open()
    await write(store, ...lines(1, 4))
    expect(await linkAll(store, 99 * day, { history: { keep: '1d' } })).toBe(
      'put 4 lines into the chain, removed 4 old lines',
    )
    await write(store, ...lines(5, 4))
    await linkAll(store)
    await store.close()
    await tamper(ledger, rows => rows.toSpliced(1, 1, edited(at(rows, 1), 'line 6', 'line 7')))
    const changed = await ledger.open()
    await expect(linkAll(changed, 99 * day, { history: { keep: '1d' } })).rejects.toThrow(
      'old lines of the history are kept, since line 6 is not the line that was written',
    )
    await changed.close()
    expect((await ledger.rows()).length).toBe(4)
  })

  it('is begun by another replica while one looks whether there is a chain: it goes on with that one', async () => {
    const store = await newLedger().open(testKeyring('2026-a'))
    await write(store, ...lines())
    const { chain } = store
    if (chain === undefined) throw new Error('the store keeps no chain')
    let overtaken = false
    const linked: typeof chain.linked = async (after, count) => {
      if (!overtaken) {
        overtaken = true
        await linkAll(store)
        await write(store, ...lines(11, 1))
      }
      return chain.linked(after, count)
    }
    const slow = Object.create(store, { chain: { value: Object.create(chain, { linked: { value: linked } }) } })
    expect(await linkAll(slow)).toBe('put 1 line into the chain')
    expect(await verify(store)).toMatchObject({ lines: 11, fault: undefined })
  })

  it('two replicas that put lines into it at once make one chain', async () => {
    const ledger = newLedger()
    const first = await ledger.open(testKeyring('2026-a'))
    // A file of SQLite belongs to one process: there it is twice the same.
    const second = ledger.isShared ? await ledger.open(testKeyring('2026-a')) : first
    const writing = write(first, ...lines(1, 30))
    let isWritten = false
    void writing.then(() => {
      isWritten = true
    })
    while (!isWritten || (await first.chain?.countUnlinked()) !== 0) {
      await Promise.all([linkAll(first), linkAll(second), linkAll(first), linkAll(second)])
      await new Promise(setImmediate)
    }
    expect(await verify(second)).toMatchObject({ lines: 30, fault: undefined, status: { unlinked: 0, strays: 0 } })
  })
})

function renumbered(rows: readonly RawLine[]): readonly RawLine[] {
  const hashes = rows.map(({ hash }) => hash)
  return rows.map((row, index) => ({ ...row, no: index + 1, hash: hashes[index] ?? null }))
}

function at(rows: readonly RawLine[], index: number): RawLine {
  const row = rows[index]
  if (row === undefined) throw new RangeError(`there is no row ${index}`)
  return row
}
