import { resolve } from 'node:path'
import { describe, expect, it } from 'vitest'
import { parseRegistrySettings } from '../../src/registry/parse-settings.ts'
import { tagOf } from '../../src/registry/settings.ts'
import { settingsFor } from './settings-for.ts'

const errorsOf = (raw: unknown) =>
  parseRegistrySettings(raw, 'registry')
    .problems.filter(({ severity }) => severity === 'error')
    .map(({ path, problem }) => `${path}: ${problem}`)

const hub = { type: 'dockerhub', name: 'dh', org: 'ansibleplaybookbundle', white_list: ['.*-apb$'] }

describe('the registry section', () => {
  it('of an Automation Broker loads as it is', () => {
    const { settings, problems } = parseRegistrySettings(
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
      'registry',
    )
    expect(problems.map(({ severity, line, problem }) => [severity, line, problem])).toEqual([
      ['warning', 23, expect.stringContaining('taken as "http://registry.example:5000"')],
    ])
    expect(settings).toMatchObject([
      {
        name: 'dh',
        type: 'dockerhub',
        org: 'ansibleplaybookbundle',
        tag: { default: 'latest', named: {} },
        blackList: ['.*automation-broker-apb$'],
        auth: { kind: 'inline', username: 'someone', password: 'something' },
      },
      { name: 'rh', type: 'oci', tag: { default: 'v3.11' }, auth: { kind: 'secret', name: 'rh-credentials' } },
      { name: 'own.registry', type: 'oci', skipVerifyTls: true, images: ['team/pg-apb'], auth: { kind: 'none' } },
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
    const read = (entry: unknown) => parseRegistrySettings([entry], 'registry')
    expect(read(camel).settings).toHaveLength(1)
    expect(read(camel)).toEqual(read(snake))
    expect(errorsOf([{ ...camel, ...snake }])[0]).toContain('two spellings')
  })

  it.each(['apiv2', 'openshift', 'partner_rhcc', 'rhcc', 'oci'])('knows the type %s', type => {
    expect(settingsFor({ type, url: 'https://r.example' })).toMatchObject({ type: 'oci', imagesOnly: false })
  })

  it('asks a registry_proxy for the images that are named only', () => {
    expect(settingsFor({ type: 'registry_proxy', url: 'https://r.example', images: ['a'] }).imagesOnly).toBe(true)
    expect(errorsOf([{ name: 'r', type: 'registry_proxy', url: 'https://r.example' }])[0]).toContain('no images')
  })

  it('has one tag, or one by image', () => {
    const { tag } = settingsFor({ ...hub, tag: { default: 'v1', named: { 'org/a': 1.1 } } })
    expect([tagOf(tag, 'org/a'), tagOf(tag, 'org/b'), tagOf(tag, 'toString')]).toEqual(['1.1', 'v1', 'v1'])
    expect(tagOf(settingsFor(hub).tag, 'org/a')).toBe('latest')
    expect(errorsOf([{ ...hub, tag: '../x' }])[0]).toContain('not a tag')
  })

  it('has paths that start from the folder of its file', () => {
    const read = (entry: object, folder?: string) =>
      parseRegistrySettings([{ name: 'r', ...entry }], 'registry', folder === undefined ? {} : { folder }).settings?.[0]
    const entry = { path: 'bundles', ca: '../ca.pem', auth_type: 'file', auth_name: 'auth.yml' }
    expect(read(entry, '/etc/purser')).toMatchObject({
      path: '/etc/purser/bundles',
      ca: '/etc/ca.pem',
      auth: { kind: 'file', path: '/etc/purser/auth.yml' },
    })
    const pem = '-----BEGIN CERTIFICATE-----\nx\n-----END CERTIFICATE-----'
    expect(read({ path: '/srv/bundles', ca: pem }, '/etc/purser')).toMatchObject({ path: '/srv/bundles', ca: pem })
    const secret = { path: 'b', auth_type: 'secret', auth_name: 'ours' }
    expect(read(secret, '/etc/purser')?.auth).toEqual({ kind: 'secret', name: 'ours' })
    expect(read({ path: 'bundles' })?.path).toBe(resolve('bundles'))
  })

  it('says whether its failure counts', () => {
    expect([settingsFor(hub).failOnError, settingsFor({ ...hub, fail_on_error: true }).failOnError]).toEqual([
      false,
      true,
    ])
  })

  it('takes a token inline', () => {
    expect(settingsFor({ type: 'quay', org: 'o', token: 't' }).auth).toEqual({ kind: 'inline', token: 't' })
  })

  it('says of a registry that can offer nothing that it cannot', () => {
    const { settings, problems } = parseRegistrySettings([{ ...hub, white_list: [], black_list: ['x'] }], 'registry')
    expect(settings).toHaveLength(1)
    expect(problems).toMatchObject([{ severity: 'warning', problem: expect.stringContaining('white_list') }])
  })

  it.each([{ path: '/srv' }, { type: 'helm', url: 'https://charts.example', runner: 'r' }])(
    'says of credentials that nobody uses that nobody does: %j',
    entry => {
      const { problems } = parseRegistrySettings(
        [{ ...entry, name: 'r', white_list: ['x'], token: 'hush' }],
        'registry',
      )
      expect(problems).toMatchObject([{ severity: 'warning', problem: expect.stringContaining('without credentials') }])
    },
  )

  it.each([
    ['a broken entry of a white list', { ...hub, white_list: ['('] }, '[0].white_list[0]: '],
    ['a broken entry of a black list', { ...hub, black_list: ['[z-a]'] }, '[0].black_list[0]: '],
    ['an unknown type', { ...hub, type: 'galaxy' }, 'is not known; use one of directory, oci'],
    ['a name in capitals', { ...hub, name: 'DH' }, '"DH" is not allowed'],
    ['no name', { ...hub, name: undefined }, 'no name'],
    ['no url', { name: 'r', type: 'oci' }, 'no url'],
    ['no path', { name: 'r' }, 'of type directory has no path'],
    ['no runner', { name: 'r', type: 'helm', url: 'https://charts.example' }, 'no runner'],
    ['another scheme', { name: 'r', type: 'oci', url: 'ftp://r.example' }, 'not a URL'],
    ['auth_type config without credentials', { ...hub, auth_type: 'config' }, 'no credentials'],
    ['auth_type file without a name', { ...hub, auth_type: 'file' }, 'auth_name'],
    ['an unknown auth_type', { ...hub, auth_type: 'magic' }, 'config, file or secret'],
  ])('refuses %s', (_, entry, message) => {
    expect(errorsOf([entry]).join('\n')).toContain(message)
  })

  it('refuses two registries of one name', () => {
    expect(errorsOf([hub, hub])).toEqual(['[1].name: the name "dh" is used twice; rename one of them'])
  })

  it('never shows what may be secret', () => {
    const secrets = {
      user: ['hush-1'],
      pass: { a: 'hush-2' },
      token: ['hush-3'],
      url: 'https://u:hush-4@r.example',
      type: 'oci',
    }
    const { problems } = parseRegistrySettings([{ name: 'r', ...secrets }], 'registry')
    expect(problems.length).toBeGreaterThanOrEqual(4)
    expect(JSON.stringify(problems)).not.toContain('hush')
  })
})
