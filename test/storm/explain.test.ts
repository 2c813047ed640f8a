import { describe, expect, it } from 'vitest'
import { findContradictions, type Happened } from './explain.ts'
import { accepted, asked, polled } from './hand-made.ts'
import type { Asked, Polled } from './record.ts'

describe('the answers against the model', () => {
  /** `+p provision` was accepted, `=p provision` has succeeded, `!f provision` has failed, `>s provision` was superseded. */
  function historyOf(...lines: readonly string[]): readonly Happened[] {
    const types = { '+': 'accepted', '=': 'succeeded', '!': 'failed', '>': 'superseded' }
    return lines.map(line => {
      const [operation = '', action = ''] = line.split(' ')
      const binding = action === 'bind' || action === 'unbind' ? { bindingId: 'b' } : {}
      const type = types[operation.charAt(0) as keyof typeof types]
      return { type, action, operationId: operation.slice(1), ...binding }
    })
  }
  const judge = (events: readonly (Asked | Polled)[], ...lines: readonly string[]) =>
    findContradictions(events, historyOf(...lines)).join('\n')
  const creation = ['+p provision', '=p provision']
  const deletion = ['+d deprovision', '=d deprovision']
  const created = () => [asked('provision', accepted('p')), polled('p', { state: 'succeeded' })]

  it('has nothing against a life without trouble', () => {
    const life = [
      asked('update', { status: 404 }),
      ...created(),
      asked('provision', { status: 200 }),
      asked('provision', { status: 409, variant: 'large' }),
      asked('bind', accepted('b')),
      asked('deprovision', { status: 422 }),
      polled('b', { state: 'succeeded', binding: 'b' }),
      asked('bind', { status: 200 }),
      asked('update', accepted('u')),
      asked('update', accepted('u')),
      polled('u', { state: 'succeeded' }),
      asked('unbind', accepted('d')),
      polled('d', { state: 'succeeded', binding: 'b' }),
      asked('unbind', { status: 410 }),
    ]
    const lines = ['+b bind', '=b bind', '+u update', '=u update', '+d unbind', '=d unbind']
    expect(judge(life, ...creation, ...lines)).toBe('')
  })

  it('has nothing against a deletion in the middle of a creation', () => {
    const life = [
      asked('provision', accepted('s')),
      polled('s', { state: 'in progress' }),
      asked('deprovision', accepted('d')),
      polled('s', { state: 'failed' }),
      polled('d', { state: 'succeeded' }),
      asked('provision', accepted('p')),
    ]
    expect(judge(life, '+s provision', '>s provision', ...deletion, '+p provision', '=x sweep')).toBe('')
  })

  it('has nothing against a bind that was undone, and the deletion of its instance right after it', () => {
    const life = [
      ...created(),
      asked('bind', accepted('b1')),
      asked('unbind', { status: 200 }),
      asked('deprovision', accepted('d')),
      polled('d', { state: 'succeeded' }),
    ]
    expect(judge(life, ...creation, '+b1 bind', '>b1 bind', ...deletion)).toBe('')
  })

  it('has nothing against the deletion of what had only waited for a sweep', () => {
    const life = [
      ...created(),
      asked('deprovision', accepted('d')),
      polled('d', { state: 'succeeded' }),
      asked('provision', accepted('q')),
      polled('q', { state: 'in progress' }),
      asked('deprovision', { status: 200 }),
      asked('deprovision', { status: 410 }),
      polled('q', { state: 'failed' }),
      asked('provision', accepted('r')),
    ]
    const lines = ['+q provision', '>q provision', '=x sweep', '+r provision']
    expect(judge(life, ...creation, ...deletion, ...lines)).toBe('')
  })

  it('takes a request without an answer for carried out or not, and for carried out later', () => {
    expect(judge([asked('provision', {}), asked('provision', accepted('p'))], '+p provision')).toBe('')
    expect(judge([asked('provision', { variant: 'large' }), asked('provision', { status: 409 })], '+p provision')).toBe(
      '',
    )
    const deleting = [...created(), asked('deprovision', { status: 503 }), asked('provision', { status: 200 })]
    expect(judge(deleting, ...creation)).toBe('')
    expect(judge([...deleting, asked('update', { status: 404 })], ...creation, ...deletion)).toBe('')
  })

  it('takes requests of one moment in any order', () => {
    const group = (answer: Partial<Asked>) => asked('provision', { ...answer, group: 7 })
    expect(judge([group({ status: 200 }), group(accepted('p'))], ...creation)).toBe('')
    expect(judge([group(accepted('p')), group(accepted('p'))], ...creation)).toBe('')
    expect(judge([group(accepted('p')), group(accepted('q'))], ...creation, '+q provision')).toMatch(/by the ledger/)
  })

  it.for<[string, () => readonly (Asked | Polled)[], readonly string[]]>([
    ['an instance that was never created', () => [asked('provision', { status: 200 })], []],
    ['an instance that is gone without a deletion', () => [...created(), asked('update', { status: 404 })], creation],
    ['a deletion of what was never there', () => [asked('deprovision', accepted('d'))], deletion],
    [
      'a second creation of what is there',
      () => [...created(), asked('provision', accepted('q'))],
      [...creation, '+q provision'],
    ],
    [
      'another operation for an equal request',
      () => [asked('provision', accepted('s')), asked('provision', accepted('p'))],
      ['+s provision', ...creation],
    ],
    ['the operation of another request', () => [...created(), asked('update', accepted('p'))], creation],
    ['an operation that the history does not have', () => [asked('provision', accepted('p'))], []],
    [
      'an operation that runs beside its successor',
      () => [
        asked('provision', accepted('s')),
        asked('deprovision', accepted('d')),
        polled('d', { state: 'in progress' }),
        polled('s', { state: 'in progress' }),
      ],
      ['+s provision', '>s provision', ...deletion],
    ],
    [
      'an end before the end',
      () => [
        asked('provision', accepted('p')),
        polled('p', { state: 'succeeded' }),
        polled('p', { state: 'in progress' }),
      ],
      creation,
    ],
    [
      'a binding to what failed',
      () => [asked('provision', accepted('f')), polled('f', { state: 'failed' }), asked('bind', accepted('b'))],
      ['+f provision', '!f provision', '+b bind'],
    ],
    [
      'a deletion under a binding',
      () => [
        ...created(),
        asked('bind', accepted('b')),
        polled('b', { state: 'succeeded', binding: 'b' }),
        asked('deprovision', accepted('d')),
      ],
      [...creation, '+b bind', '=b bind', ...deletion],
    ],
    [
      'an instance that outlives its deletion',
      () => [
        ...created(),
        asked('deprovision', accepted('d')),
        polled('d', { state: 'succeeded' }),
        asked('provision', { status: 200 }),
      ],
      [...creation, ...deletion],
    ],
    [
      'what was gone before it was deleted',
      () => [...created(), asked('update', { status: 404 }), asked('deprovision', accepted('d'))],
      [...creation, ...deletion],
    ],
  ])('finds %s', ([, events, lines]) => {
    expect(judge(events(), ...lines)).toMatch(/by the ledger/)
  })

  it('finds an operation that nobody asked for', () => {
    expect(judge(created(), ...creation, ...deletion)).toMatch(/nobody had asked/)
    expect(judge([...created(), asked('deprovision', {})], ...creation, ...deletion)).toBe('')
  })
})
