import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createAction, findTools } from './shell.ts'

const awkward = 'a "b" \\ \\n\tc\r\u0001\u001f\u007f é 漢 😀 \u2028 {} [] : , $HOME `x` %s &\n\n'

describe.each(findTools())('the helpers, by $name', tools => {
  it('keep every value as it is: what was set is read again, here and by the broker', () => {
    const { run, left } = createAction(tools)
    expect(run('bundle-state', ['set', 'argument', awkward])).toEqual({ code: 0, out: '', err: '' })
    expect(run('bundle-state', ['set', 'stdin'], awkward)).toEqual({ code: 0, out: '', err: '' })
    run('bundle-state', ['set', 'empty', ''])
    run('bundle-state', ['set', 'dash', '-n'])
    expect(left('state.json')).toEqual({ argument: awkward, stdin: awkward, empty: '', dash: '-n' })
    for (const [key, value] of Object.entries({ argument: awkward, stdin: awkward, empty: '', dash: '-n' }))
      expect(run('bundle-state', ['get', key])).toEqual({ code: 0, out: value, err: '' })
  })

  it('keep any text', () => {
    const { run, left } = createAction(tools)
    const text = fc.string({ unit: 'binary', maxLength: 40 }).filter(value => !value.includes('\0'))
    fc.assert(
      fc.property(text, value => {
        run('bundle-state', ['set', 'key'], value)
        expect(left('state.json')).toEqual({ key: value })
        expect(run('bundle-state', ['get', 'key']).out).toBe(value)
      }),
      { numRuns: 25 },
    )
  })

  it('see what earlier actions kept, and what this one has changed', () => {
    const { run, keep, left } = createAction(tools)
    keep('state', 'host', 'db\n')
    keep('state', '.hidden', '1')
    keep('state', 'a.b', 'dotted')
    expect(run('bundle-state', ['list']).out).toBe('.hidden\na.b\nhost\n')
    expect(run('bundle-state', ['get', 'host']).out).toBe('db\n')
    run('bundle-state', ['unset', 'host'])
    run('bundle-state', ['set', 'a.b', 'changed'])
    run('bundle-state', ['set', 'new', '1'])
    expect(left('state.json')).toEqual({ host: null, 'a.b': 'changed', new: '1' })
    expect(run('bundle-state', ['list']).out).toBe('.hidden\na.b\nnew\n')
    expect(run('bundle-state', ['get', 'a.b']).out).toBe('changed')
    expect(run('bundle-state', ['get', 'host'])).toMatchObject({ code: 1, out: '' })
    run('bundle-state', ['set', 'host', 'back'])
    expect(run('bundle-state', ['get', 'host']).out).toBe('back')
  })

  it('read what others wrote: spaces, escapes, numbers, and pairs of surrogates', () => {
    const { run, output, left } = createAction(tools)
    const written =
      '{ "port" : 5432 ,\n\t"emoji":"\\ud83d\\ude00\\u00e9\\/\\u0041","half":"\\ud83d!","deep":{"a":[1,"]"]}}'
    writeFileSync(join(output, 'state.json'), written)
    expect(run('bundle-state', ['get', 'port']).out).toBe('5432')
    expect(run('bundle-state', ['get', 'emoji']).out).toBe('😀é/A')
    expect(run('bundle-state', ['get', 'half']).out).toBe('\ufffd!')
    expect(run('bundle-state', ['get', 'deep']).out).toBe('{"a":[1,"]"]}')
    run('bundle-state', ['set', 'port', '1'])
    expect(left('state.json')).toEqual({ ...JSON.parse(written), port: '1' })
  })

  it('have a state of the binding where the action is about one', () => {
    const instance = createAction(tools)
    expect(instance.run('bundle-state', ['get', '--binding', 'user'])).toMatchObject({
      code: 1,
      err: expect.stringContaining('only bind and unbind'),
    })
    const { run, keep, left } = createAction(tools, { binding: true })
    keep('binding', 'user', 'me')
    expect(run('bundle-state', ['get', '--binding', 'user']).out).toBe('me')
    run('bundle-state', ['set', '--binding', 'role', 'owner'])
    expect(left('binding_state.json')).toEqual({ role: 'owner' })
    expect(left('state.json')).toBeUndefined()
  })

  it('refuse what cannot be meant', () => {
    const { run, output, left } = createAction(tools)
    for (const args of [
      [],
      ['walk', 'x'],
      ['get'],
      ['get', 'a', 'b'],
      ['set'],
      ['set', 'a/b', '1'],
      ['set', '..', '1'],
      ['list', 'x'],
    ])
      expect(run('bundle-state', args), args.join(' ')).toMatchObject({ code: 2, out: '' })
    expect(run('bundle-state', ['get', 'none'])).toMatchObject({ code: 1, err: 'bundle-state: there is no "none"\n' })
    expect(left('state.json')).toBeUndefined()
    for (const broken of ['', '{', '[1', '{"a":}', '{"a" "b"}', '{"a":1}}', '"a', '{"a":"\\"}']) {
      writeFileSync(join(output, 'state.json'), broken)
      const { code, err } = run('bundle-state', ['set', 'a', '1'])
      expect([broken, code, err.includes('is not JSON')]).toEqual([broken, broken === '' ? 0 : 1, broken !== ''])
      if (broken !== '') expect(readFileSync(join(output, 'state.json'), 'utf8')).toBe(broken)
    }
  })

  it('give out credentials, one key after the other', () => {
    const { run, left } = createAction(tools)
    expect(run('bundle-credentials', ['host=db', 'port:=5432', 'tls:=true', 'uri=x://y?a:=b', 'empty='])).toMatchObject(
      { code: 0 },
    )
    run('bundle-credentials', ['password'], awkward)
    run('bundle-credentials', ['host=other'])
    const expected = { host: 'other', port: 5432, tls: true, uri: 'x://y?a:=b', empty: '', password: awkward }
    expect(left('credentials.json')).toEqual(expected)
    expect(run('bundle-credentials', ['port:=05432'])).toMatchObject({ code: 1, err: expect.stringContaining('port=') })
    for (const args of [[], ['=x'], [':=1'], ['a=b', 'password']])
      expect(run('bundle-credentials', args), args.join(' ')).toMatchObject({ code: 2 })
    expect(left('credentials.json')).toMatchObject(expected)
  })

  it('write progress in lines', () => {
    const { run, output } = createAction(tools)
    run('bundle-progress', ['10%: creating'])
    run('bundle-progress', ['two\nlines', 'and more'])
    expect(readFileSync(join(output, 'progress'), 'utf8')).toBe('10%: creating\ntwo lines and more\n')
    expect(run('bundle-progress', [])).toMatchObject({ code: 2 })
  })

  it('read the input', () => {
    const parameters = { names: ['a b', 'c"d', 3, { x: 1 }], none: null, no: false, text: awkward, empty: [] }
    const { run } = createAction(tools, { input: { plan: { name: 'small' }, parameters } })
    expect(run('bundle-input', ['plan.name']).out).toBe('small')
    expect(run('bundle-input', ['parameters.text']).out).toBe(awkward)
    expect(run('bundle-input', ['parameters.no']).out).toBe('false')
    expect(run('bundle-input', ['parameters.names.1']).out).toBe('c"d')
    expect(run('bundle-input', ['parameters.names[]']).out).toBe('a b\nc"d\n3\n{"x":1}\n')
    expect(run('bundle-input', ['parameters.empty[]'])).toEqual({ code: 0, out: '', err: '' })
    expect(JSON.parse(run('bundle-input', ['parameters']).out)).toEqual(parameters)
    for (const path of ['parameters.none', 'parameters.other', 'plan.name[]', 'x'])
      expect(run('bundle-input', [path]), path).toMatchObject({
        code: 1,
        out: '',
        err: `bundle-input: there is no ${path}\n`,
      })
    expect(run('bundle-input', [])).toMatchObject({ code: 2 })
  })

  it('are quick with a large value', () => {
    const { run, left } = createAction(tools)
    const value = 'some "quoted" text \\ and more\n'.repeat(10_000)
    run('bundle-state', ['set', 'large'], value)
    expect(left('state.json')).toEqual({ large: value })
    expect(run('bundle-state', ['get', 'large']).out === value).toBe(true)
  })
})
