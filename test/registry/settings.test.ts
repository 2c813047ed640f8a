import { resolve } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { imageFields } from '../../src/registry/settings.ts'
import { taggedImages } from '../../src/registry/tagged-images.ts'
import type { Read } from '../../src/shape/shape.ts'
import { revealAll } from '../server/reveal-all.ts'
import { readSection, registryFor, settingsFor } from './settings-for.ts'

const errorsOf = (raw: unknown) =>
  readSection(raw)
    .problems.filter(({ severity }) => severity === 'error')
    .map(({ path, problem }) => `${path}: ${problem}`)

type Tagged = { readonly tag: Read<(typeof imageFields)['tag']> }

const hub = { type: 'dockerhub', name: 'dh', org: 'ansibleplaybookbundle', white_list: ['.*-apb$'] }

describe('the registry section', () => {
  it('of an Automation Broker loads as it is', () => {
    const { settings, problems } = readSection(
      `
- type: dockerhub
  name: dh
  url: https://registry.hub.docker.com
  org: ansibleplaybookbundle
  tag: latest
  white_list: [".*-apb$"]
  black_list: [".*automation-broker-apb$"]
  fail_on_error: false
  user: someone
  pass: something
  auth_type: ""
- type: rhcc
  name: rh
  url: https://registry.access.redhat.com
  org: ""
  tag: v3.11
  white_list: [".*"]
  auth_type: secret
  auth_name: rh-credentials
- type: apiv2
  name: own.registry
  url: registry.example:5000
  skip_verify_tls: true
  white_list: [".*"]
  images: [team/pg-apb]
`,
    )
    expect(problems.map(({ severity, line, problem }) => [severity, line, problem])).toEqual([
      ['warning', 23, expect.stringContaining('taken as "http://registry.example:5000"')],
    ])
    expect(revealAll(settings)).toMatchObject([
      {
        name: 'dh',
        type: 'dockerhub',
        org: 'ansibleplaybookbundle',
        tag: { default: 'latest', named: {} },
        blackList: ['.*automation-broker-apb$'],
        user: 'someone',
        pass: 'something',
      },
      { name: 'rh', type: 'rhcc', tag: { default: 'v3.11' }, authType: 'secret', authName: 'rh-credentials' },
      { name: 'own.registry', type: 'apiv2', skipVerifyTls: true, images: ['team/pg-apb'] },
    ])
  })

  it('may be written in camelCase', () => {
    const snake = { ...hub, fail_on_error: true, skip_verify_tls: true, auth_type: 'file', auth_name: '/run/auth' }
    const { white_list, ...rest } = hub
    const camel = {
      ...rest,
      whiteList: white_list,
      failOnError: true,
      skipVerifyTls: true,
      authType: 'file',
      authName: '/run/auth',
    }
    const read = (entry: unknown) => readSection([entry])
    expect(read(camel).settings).toHaveLength(1)
    expect(read(camel)).toEqual(read(snake))
    expect(errorsOf([{ ...camel, ...snake }])[0]).toContain('given twice')
  })

  it.each(['apiv2', 'openshift', 'partner_rhcc', 'rhcc', 'oci'])('knows the type %s', type => {
    expect(registryFor({ type, url: 'https://r.example' }).type).toBe('oci')
  })

  it('asks a registry_proxy for the images that are named only', () => {
    const proxy = { type: 'registry_proxy', url: 'https://r.example' }
    expect(registryFor({ ...proxy, images: ['a'] }).type).toBe('oci')
    expect(errorsOf([{ name: 'r', ...proxy }])[0]).toContain('[0].images: needs')
  })

  it('has one tag, or one by image', () => {
    const { tag } = settingsFor<Tagged>({ ...hub, tag: { default: 'v1', named: { 'org/a': 1.1 } } })
    const tagsOf = (choice: typeof tag, image: string) =>
      taggedImages(image, { tag: choice, images: [] }).map(one => one.tag)
    expect([tagsOf(tag, 'org/a'), tagsOf(tag, 'org/b'), tagsOf(tag, 'toString')]).toEqual([['1.1'], ['v1'], ['v1']])
    expect(tagsOf(settingsFor<Tagged>(hub).tag, 'org/a')).toEqual(['latest'])
    expect(errorsOf([{ ...hub, tag: '../x' }])[0]).toContain('[0].tag.default: found "../x"; allowed: a tag')
    expect(errorsOf([{ ...hub, tag: { named: { a: '../x' } } }])[0]).toContain('[0].tag.named.a: needs a tag: letters')
  })

  it('has several tags of one image, each with a name that depends on no other', () => {
    const tagged = (tag: unknown) =>
      taggedImages('org/a', { tag: settingsFor<Tagged>({ ...hub, tag }).tag, images: [] }).map(
        ({ name, tag: one, variant }) => [name, one, variant],
      )
    const all = [
      ['org/a:1.10', '1.10', '1.10'],
      ['org/a', 'v1', undefined],
      ['org/a:v2', 'v2', 'v2'],
    ]
    expect(tagged({ default: 'v1', named: { 'org/a': ['1.10', 'v1', 'v2', 'v2'] } })).toEqual(all)
    expect(tagged({ default: 'v1', named: { 'org/a': ['v2'] } })).toEqual([all[2]])
    expect(tagged({ default: 'v1', named: { 'org/a': 'v2' } })).toEqual([['org/a', 'v2', undefined]])
    const asProposed = [{ 'org/a': ['v1'] }, { 'org/b': ['v3'] }, { 'org/a': 'v2' }]
    expect(tagged({ default: 'v1', named: asProposed })).toEqual(all.slice(1))
    const mistakes = (named: unknown) => errorsOf([{ ...hub, tag: { named } }])[0]
    expect(mistakes({ 'org/a': ['v1', '../x'] })).toContain('128 at most, not "../x"')
    expect(mistakes({ 'org/a': [] })).toContain('[0].tag.named."org/a": needs a tag; name one')
  })

  it('has paths that start from the folder of its file', () => {
    const read = (entry: object, folder?: string) => readSection([{ name: 'r', ...entry }], folder).settings?.[0]
    const entry = { path: 'bundles', ca: '../ca.pem', auth_type: 'file', auth_name: 'auth.yml' }
    expect(read(entry, '/etc/purser')).toMatchObject({
      path: '/etc/purser/bundles',
      ca: '/etc/ca.pem',
      authName: '/etc/purser/auth.yml',
    })
    const pem = '-----BEGIN CERTIFICATE-----\nx\n-----END CERTIFICATE-----'
    expect(read({ path: '/srv/bundles', ca: pem }, '/etc/purser')).toMatchObject({ path: '/srv/bundles', ca: pem })
    const secret = { path: 'b', auth_type: 'secret', auth_name: 'ours' }
    expect(read(secret, '/etc/purser')?.authName).toBe('ours')
    expect(read({ path: 'bundles' })).toMatchObject({ path: resolve('bundles') })
  })

  it('says whether its failure counts', () => {
    expect([settingsFor(hub).failOnError, settingsFor({ ...hub, fail_on_error: true }).failOnError]).toEqual([
      false,
      true,
    ])
  })

  it('takes a token inline', () => {
    expect(settingsFor({ type: 'quay', org: 'o', token: 't' }).token?.reveal()).toBe('t')
  })

  it('says of a registry that can offer nothing that it cannot', () => {
    const { settings, problems } = readSection([{ ...hub, white_list: [], black_list: ['x'] }])
    expect(settings).toHaveLength(1)
    expect(problems).toMatchObject([{ severity: 'warning', problem: expect.stringContaining('white_list') }])
  })

  it.each([{ path: '/srv' }, { type: 'helm', url: 'https://charts.example', runner: 'r' }])(
    'says of credentials that nobody uses that nobody does: %j',
    entry => {
      const { problems } = readSection([{ ...entry, name: 'r', white_list: ['x'], token: 'hush' }])
      expect(problems).toMatchObject([{ severity: 'warning', problem: expect.stringContaining('without credentials') }])
    },
  )

  it.each([
    ['a broken entry of a white list', { ...hub, white_list: ['('] }, '[0].white_list[0]: '],
    ['a broken entry of a black list', { ...hub, black_list: ['[z-a]'] }, '[0].black_list[0]: '],
    ['an unknown type', { ...hub, type: 'galaxy' }, '[0].type: found "galaxy"; allowed: directory or oci or'],
    ['a name in capitals', { ...hub, name: 'DH' }, '[0].name: found "DH"; allowed: small letters'],
    ['no name', { ...hub, name: undefined }, '[0].name: is missing'],
    ['no url', { name: 'r', type: 'oci' }, '[0].url: is missing'],
    ['no path', { name: 'r' }, '[0].path: is missing; allowed: the path of a folder, for the type directory'],
    ['no runner', { name: 'r', type: 'helm', url: 'https://charts.example' }, '[0].runner: is missing'],
    [
      'another scheme',
      { name: 'r', type: 'oci', url: 'ftp://r.example' },
      '[0].url: found "ftp://r.example"; allowed: an http or https URL',
    ],
    ['auth_type config without credentials', { ...hub, auth_type: 'config' }, '[0]: needs credentials'],
    ['auth_type file without a name', { ...hub, auth_type: 'file' }, '[0]: needs auth_name'],
    [
      'an unknown auth_type',
      { ...hub, auth_type: 'magic' },
      '[0].auth_type: found "magic"; allowed: config or file or secret',
    ],
  ])('refuses %s', (_, entry, message) => {
    expect(errorsOf([entry]).join('\n')).toContain(message)
  })

  it('refuses two registries of one name', () => {
    expect(errorsOf([hub, hub])).toEqual(['[1].name: found "dh"; it is used twice; rename one of them'])
  })

  it('never shows what may be secret', () => {
    const secrets = {
      user: ['hush-1'],
      pass: { a: 'hush-2' },
      token: ['hush-3'],
      url: 'https://u:hush-4@r.example',
      type: 'oci',
    }
    const { problems } = readSection([{ name: 'r', ...secrets }])
    expect(problems.length).toBeGreaterThanOrEqual(4)
    expect(JSON.stringify(problems)).not.toContain('hush')
  })
})
