import { describe, expect, it } from 'vitest'
import { fullName, planIdOf, serviceIdOf } from './names.ts'

describe('names and ids of bundles', () => {
  it.each([
    ['postgresql-apb', '1dda1477cace09730bd8ed7a6505607e'],
    ['mediawiki-apb', 'f6c4486b7fb0cdac4b58e193607f7011'],
    ['mysql-apb', 'ddd528762894b277001df310a126d5ad'],
  ])('gives dh-%s the id that the Automation Broker gave it', (name, id) => {
    expect(fullName('dh', name)).toBe(`dh-${name}`)
    expect(serviceIdOf(fullName('dh', name))).toBe(id)
  })

  it('gives a plan the id that the Automation Broker gave it', () => {
    expect(planIdOf('dh-postgresql-apb', 'dev')).toBe('7f4a5e35e4af2beb70076e72fab0b7ff')
  })

  it('makes a dash of everything that a Kubernetes name cannot hold', () => {
    expect(fullName('my.registry:5000', 'org/name.with-dash_and_more')).toBe(
      'my-registry-5000-org-name-with-dash_and_more',
    )
  })

  it('cuts at 51 characters, and takes one dash off the end', () => {
    expect(fullName('r', 'a'.repeat(100))).toBe(`r-${'a'.repeat(49)}`)
    expect(fullName('r', `${'a'.repeat(48)}-more`)).toBe(`r-${'a'.repeat(48)}`)
    expect(fullName('r', `${'a'.repeat(47)}--more`)).toBe(`r-${'a'.repeat(47)}-`)
    expect(fullName('r', 'short-')).toBe('r-short')
  })

  it('has a place for a variant, which is never cut off', () => {
    expect(fullName('dh', 'hello-apb', 'v1.0')).toBe('dh-hello-apb-v1-0')
    const [one, other] = ['v1.0', 'v1.1'].map(variant => fullName('r', 'a'.repeat(60), variant))
    expect(one).toMatch(/^r-a{40}-[0-9a-f]{8}$/)
    expect(other).not.toBe(one)
    expect(fullName('r', 'a'.repeat(44), 'v1.0')).toBe(`r-${'a'.repeat(44)}-v1-0`)
  })
})
