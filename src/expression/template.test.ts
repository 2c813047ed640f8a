import { describe, expect, it } from 'vitest'
import type { Json } from '../protocol/json.ts'
import { loadExpressions } from './expression.ts'
import { compileTemplate } from './template.ts'

const compile = await loadExpressions(['parameters', 'instance', 'objects'])

function render(value: Json, values = {}) {
  const { template, mistakes } = compileTemplate(value, compile)
  expect(mistakes).toEqual([])
  return template.render({ parameters: {}, instance: { id: 'i-1' }, objects: {}, ...values })
}

describe('a template', () => {
  it('has values in its texts, and of their own type where a text is nothing else', () => {
    const parameters = { size: 3, names: ['a', 'b'], labels: { x: 'y' } }
    expect(
      render(
        {
          name: 'db-${instance.id}',
          replicas: '${parameters.size + 1}',
          half: '${double(parameters.size) / 2.0}',
          names: '${parameters.names}',
          text: 'has ${size(parameters.names)} of ${parameters.labels}',
          'key-${instance.id}': true,
          nested: [{ deep: '${parameters.labels.x}' }],
        },
        { parameters },
      ),
    ).toEqual({
      name: 'db-i-1',
      replicas: 4,
      half: 1.5,
      names: ['a', 'b'],
      text: 'has 2 of {"x":"y"}',
      'key-i-1': true,
      nested: [{ deep: 'y' }],
    })
  })

  it('leaves out what is null', () => {
    const template = { kept: null, gone: '${null}', list: ['${null}', 'b'], text: 'a${null}b' }
    expect(render(template)).toEqual({ kept: null, list: ['b'], text: 'ab' })
  })

  it('ends an expression at its own brace, and keeps $${ as it is', () => {
    expect(render('${ {"a": "}"}["a"] + \'}\' }')).toBe('}}')
    expect(render('${"\\"}"}')).toBe('"}')
    expect(render('$${HOME} and ${instance.id}')).toBe('${HOME} and i-1')
    expect(render('')).toBe('')
  })

  it('finds all mistakes at once, with their places', () => {
    const { mistakes } = compileTemplate(
      { a: '${1 +}', b: ['ok', '${nobody.x}'], c: '${"open"', d: '${"a" + 1}', e: '${instance.id}' },
      compile,
    )
    expect(mistakes.map(({ path }) => path)).toEqual([['a'], ['b', 1], ['c'], ['d']])
    expect(mistakes[1]?.problem).toContain('nobody')
    expect(mistakes[2]?.problem).toContain('close it with }')
  })

  it('says which expression cannot be computed, and shows no value', () => {
    const parameters = { password: 'sesame' }
    expect(() => render('${parameters.pasword}', { parameters })).toThrow('${parameters.pasword}: No such key: pasword')
    expect(() => render('${parameters.password + 1}', { parameters })).not.toThrow(/sesame/)
  })

  it('knows which parts of a variable it reads', () => {
    const { template } = compileTemplate(
      ['${objects.server.status.host}', "${objects['secret'].data.x}", '${instance.id}'],
      compile,
    )
    expect(template.reads('objects')).toEqual(['server', 'secret'])
    expect(template.reads('instance')).toEqual(['id'])
  })

  it('reaches nothing but the values: no prototype, no function', () => {
    for (const name of ['constructor', '__proto__', 'toString'])
      expect(() => render(`\${parameters.${name}}`)).toThrow('No such key')
  })

  it('matches patterns in linear time', () => {
    expect(() => render('${"a".matches("(?=b)")}')).toThrow('look-around')
    const text = `${'a'.repeat(40)}b`
    expect(render('${parameters.text.matches("^(a+)+$") || "x1".matches("[0-9]")}', { parameters: { text } })).toBe(
      true,
    )
    expect(render('${parameters.text.matches("^(a+)+$")}', { parameters: { text } })).toBe(false)
  })
})

describe('functions', () => {
  it.each([
    ['my-name', 'my-name'],
    ['My_Name', 'my-name-98ead8d2e93b'],
    ['my--name', 'my--name'],
    ['', 'e3b0c44298fc'],
    ['x'.repeat(70), `${'x'.repeat(50)}-7d2b8d21ea6b`],
  ])('dns(%j) is a name that Kubernetes takes', (text, name) => {
    const made = String(render('${dns(parameters.text)}', { parameters: { text } }))
    expect(made.length).toBeLessThanOrEqual(63)
    expect(made).toMatch(/^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/)
    expect(made.split('-')[0]).toBe(name.split('-')[0])
  })

  it('two texts never become one name', () => {
    expect(render('${dns("a_b")}')).not.toBe(render('${dns("a.b")}'))
  })

  it('decode is the opposite of encode', () => {
    expect(render('${encode("sesame")}')).toBe('c2VzYW1l')
    expect(render('${decode("c2VzYW1l")}')).toBe('sesame')
  })
})
