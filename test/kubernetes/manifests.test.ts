import { beforeAll, describe, expect, it } from 'vitest'
import type { Cluster } from '../../src/kubernetes/cluster.ts'
import { whyNoApiServer } from '../external/kubernetes.ts'
import { asynchronous, useManifestWorlds } from './manifests-world.ts'

const reason = whyNoApiServer()

const spec = `
version: 1.0
name: greeter
description: A config map, and a Secret for each binding
bindable: true
plans:
  - name: small
    description: small
    free: true
    parameters:
      - { name: greeting, type: string, default: hello, updatable: true }
      - { name: extra, type: boolean, default: false, updatable: true }
      - { name: password, type: string, sensitive: true }
manifests:
  generate: { password: 24 }
  observe_every: 30s
  provision:
    - name: settings
      object:
        apiVersion: v1
        kind: ConfigMap
        metadata: { name: "settings-\${dns(instance.id)}" }
        data: { greeting: "\${parameters.greeting}", plan: "\${plan.name}" }
    - name: extra
      when: parameters.extra
      object:
        apiVersion: v1
        kind: ConfigMap
        metadata: { name: "extra-\${dns(instance.id)}" }
        data: { settings: "\${objects.settings.metadata.name}" }
  state: { settings: "\${objects.settings.metadata.name}" }
  dashboard_url: "https://example.com/\${objects.settings.metadata.name}"
  bind:
    - name: login
      object:
        apiVersion: v1
        kind: Secret
        metadata: { name: "login-\${dns(binding.id)}" }
        stringData: { password: "\${generated.password}", settings: "\${state.settings}" }
  credentials:
    greeting: "\${objects.settings.data.greeting}"
    password: "\${decode(objects.login.data.password)}"
    settings: "\${state.settings}"
`

describe.skipIf(reason !== undefined)(`manifests${reason === undefined ? '' : ` (skipped: ${reason})`}`, () => {
  const { open, cluster: current } = useManifestWorlds(spec)
  let cluster: Cluster
  beforeAll(() => {
    cluster = current()
  })
  const settingsPath = '/api/v1/namespaces/$ns/configmaps/settings-i-1'

  it('makes what a provision asks for, gives out what a bind asks for, and takes all of it back', async () => {
    const world = await open()
    const broker = await world.start()
    const provision = await world.provision(broker, 'i-1', { greeting: 'hi' })
    expect(provision).toMatchObject({ state: 'succeeded' })
    const made = await world.get(settingsPath)
    expect(made).toMatchObject({
      metadata: { labels: { 'app.kubernetes.io/managed-by': 'purser' }, annotations: { 'purser.dev/instance': 'i-1' } },
      data: { greeting: 'hi', plan: 'small' },
    })
    const { body } = await broker.client.fetchInstance('i-1', world.ids())
    expect(body).toMatchObject({ dashboard_url: 'https://example.com/settings-i-1' })

    await world.ended(await broker.client.bind('i-1', 'b-1', world.ids(), asynchronous))
    const binding = await broker.client.fetchBinding('i-1', 'b-1', world.ids())
    const { credentials } = binding.body as { credentials: Record<string, string> }
    expect(credentials).toEqual({
      greeting: 'hi',
      settings: 'settings-i-1',
      password: expect.stringMatching(/^[A-Za-z0-9]{24}$/),
    })
    expect(await world.get('/api/v1/namespaces/$ns/secrets/login-b-1')).toMatchObject({
      data: { password: Buffer.from(credentials.password ?? '').toString('base64') },
    })

    await world.ended(await broker.client.unbind('i-1', 'b-1', world.ids(), asynchronous))
    expect(await world.get('/api/v1/namespaces/$ns/secrets/login-b-1')).toBeUndefined()
    expect(await world.deprovision(broker, 'i-1')).toMatchObject({ state: 'succeeded' })
    expect(await world.get(settingsPath)).toBeUndefined()
  })

  it('an update changes what is there, makes what is new, and removes what is not wanted any more', async () => {
    const world = await open()
    const broker = await world.start()
    await world.provision(broker, 'i-1', { extra: true })
    const extra = '/api/v1/namespaces/$ns/configmaps/extra-i-1'
    expect(await world.get(extra)).toMatchObject({ data: { settings: 'settings-i-1' } })
    const before = await world.get(settingsPath)
    const parameters = { greeting: 'good day', extra: false }
    const update = await broker.client.update('i-1', { ...world.ids(), parameters }, asynchronous)
    expect(await world.ended(update)).toMatchObject({ state: 'succeeded' })
    const after = await world.get(settingsPath)
    expect(after).toMatchObject({ metadata: { uid: before?.metadata.uid }, data: { greeting: 'good day' } })
    expect(await world.get(extra)).toBeUndefined()
    await world.deprovision(broker, 'i-1')
  })

  it('puts back what somebody has changed or deleted, and says who', async () => {
    const world = await open()
    const broker = await world.start()
    await world.provision(broker, 'i-1')
    expect(await world.observed('i-1')).toMatchObject({ status: true })
    const path = settingsPath.replace('$ns', world.namespace)
    await cluster.call('PATCH', path, {
      query: { fieldManager: 'kubectl-edit' },
      body: { data: { greeting: 'changed' } },
      contentType: 'application/merge-patch+json',
    })
    expect(await world.observed('i-1')).toMatchObject({
      status: true,
      reason: 'Repaired',
      message: 'ConfigMap settings-i-1 was changed by kubectl-edit, and put back',
    })
    expect(await world.get(settingsPath)).toMatchObject({ data: { greeting: 'hello' } })
    await cluster.remove(path)
    expect(await world.observed('i-1')).toMatchObject({ message: 'ConfigMap settings-i-1 was deleted, and put back' })
    expect(await world.get(settingsPath)).toMatchObject({ data: { greeting: 'hello' } })
    // An instance that nobody touches is looked at, and not written to.
    const before = await world.get(settingsPath)
    const seen = await world.observed('i-1')
    expect([seen.status, seen.reason]).toEqual([true, undefined])
    expect((await world.get(settingsPath))?.metadata.resourceVersion).toBe(before?.metadata.resourceVersion)
  })

  it('does not fight: whoever changes it again and again is told of', async () => {
    const world = await open()
    const broker = await world.start()
    await world.provision(broker, 'i-1')
    const path = settingsPath.replace('$ns', world.namespace)
    const change = () =>
      cluster.call('PATCH', path, {
        query: { fieldManager: 'stubborn' },
        body: { data: { greeting: `changed ${Date.now()}` } },
        contentType: 'application/merge-patch+json',
      })
    for (let round = 0; round < 3; round += 1) {
      await change()
      expect(await world.observed('i-1')).toMatchObject({ status: true, reason: 'Repaired' })
    }
    // As it should be: nothing is wrong with it.
    const seen = await world.observed('i-1')
    expect([seen.status, seen.reason]).toEqual([true, undefined])
    await change()
    expect(await world.observed('i-1')).toMatchObject({
      status: false,
      reason: 'Contested',
      message: expect.stringMatching(/ConfigMap settings-i-1 was changed by .*stubborn.* left alone/),
    })
    await world.clock.advance(3_600_000)
    expect(await world.observed('i-1', ready => ready)).toMatchObject({ status: true })
  })

  it('refuses what the configuration does not allow, before the cluster hears of it', async () => {
    const kinds = await open({ limits: { namespaces: ['context'], kinds: ['v1/Secret'] } })
    const broker = await kinds.start()
    expect(await kinds.provision(broker, 'i-1')).toMatchObject({
      state: 'failed',
      error: { message: expect.stringContaining('v1/ConfigMap may not be used here') },
    })
    const elsewhere = await open({ limits: { namespaces: ['other-*'], kinds: ['v1/ConfigMap'] } })
    expect(await elsewhere.provision(await elsewhere.start(), 'i-1')).toMatchObject({
      state: 'failed',
      error: { message: expect.stringContaining('bundles.manifests.namespaces') },
    })
    expect(await elsewhere.get(settingsPath)).toBeUndefined()
  })

  it('refuses a second template that writes the same object, and leaves nothing of the first', async () => {
    const [beginning = ''] = spec.split('  provision:')
    const patch = (key: string) =>
      `    - name: ${key}\n      patch: { apiVersion: v1, kind: ConfigMap, metadata: { name: target }, data: { ${key}: "1" } }\n`
    const world = await open({ spec: `${beginning}  provision:\n${patch('a')}${patch('b')}` })
    const path = `/api/v1/namespaces/${world.namespace}/configmaps`
    await cluster.call('POST', path, { body: { metadata: { name: 'target' }, data: { own: 'yes' } } })
    expect(await world.provision(await world.start(), 'i-1')).toMatchObject({
      state: 'failed',
      error: { message: 'ConfigMap target is written by two templates, "a" and "b": write it in one of them.' },
    })
    expect((await world.get(`${path}/target`))?.data).toEqual({ own: 'yes' })
  })

  it('reads nothing but what is named', async () => {
    const named = spec.replace('"settings-${dns(instance.id)}"', '"${parameters.greeting}"')
    const world = await open({ spec: named })
    const broker = await world.start()
    expect(await world.provision(broker, 'i-1', { greeting: '..' })).toMatchObject({
      state: 'failed',
      error: { message: expect.stringMatching(/^ConfigMap \.\.: .*"\.\." is no name/) },
    })
    expect(await world.deprovision(broker, 'i-1')).toMatchObject({ state: 'succeeded' })
  })

  it('does not touch what others have made under the same name', async () => {
    const world = await open()
    const path = settingsPath.replace('$ns', world.namespace)
    await cluster.call('POST', path.replace('/settings-i-1', ''), {
      body: { metadata: { name: 'settings-i-1' }, data: { own: 'yes' } },
    })
    const broker = await world.start()
    expect(await world.provision(broker, 'i-1')).toMatchObject({
      state: 'failed',
      error: {
        message: 'ConfigMap settings-i-1 is there already, and was not made for this instance: give it another name.',
      },
    })
    expect(await world.deprovision(broker, 'i-1')).toMatchObject({ state: 'succeeded' })
    expect(await world.get(settingsPath)).toMatchObject({ data: { own: 'yes' } })
  })
})
