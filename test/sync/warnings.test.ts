import { describe, expect, it } from 'vitest'
import { versionWarning } from '../../src/domain/version-warning.ts'
import { bundle, idsOf, place, ScriptedRegistry, startWorld } from './world.ts'

/** Another content under this version. */
const rebuilt = (version: string) => bundle('db', { version, plans: ['small', `of-${Math.random()}`] })

async function start(first = bundle('db')) {
  const registry = new ScriptedRegistry('dh')
  registry.offers(first)
  const told: string[] = []
  const world = await startWorld({
    registries: [registry],
    observer: { 'registry.warning': ({ problem }) => told.push(problem) },
  })
  const warnings = async () => (await world.store.registries()).registries[0]?.warnings ?? []
  const next = async (version: string) => {
    registry.offers(rebuilt(version))
    await world.sync()
    return warnings()
  }
  return { world, registry, told, warnings, next }
}

describe('another content', () => {
  it('under the same version is published, and told about as long as instances have the other one', async () => {
    const { world, told, warnings, next } = await start()
    await world.client.provision('i', { ...idsOf('dh', 'db'), ...place }, { acceptsIncomplete: true })
    await world.end('i')
    const problem =
      'db: its content has changed, and its bundle_version is still 1.0.0: platforms offer no upgrade to it; raise the version'
    expect(await next('1.0.0')).toEqual([problem])
    const { lastChange, registries } = await world.store.registries()
    expect(lastChange?.report).toMatchObject({
      updated: [{ fullName: 'dh-db' }],
      warnings: [{ registry: 'dh', name: 'db', problem: problem.slice(4) }],
      problems: [],
    })
    expect(registries[0]).not.toHaveProperty('lastProblem')
    await world.sync()
    expect(await warnings()).toEqual([problem])
    expect(told).toEqual([problem])
    expect(await next('1.0.1')).toEqual([])
    expect(await next('0.9.0')).toEqual([
      'db: its content has changed, and its bundle_version 0.9.0 is lower than 1.0.1, which was there before; raise it',
    ])
  })

  it('is told about once where nobody has the other one', async () => {
    const { world, warnings, told, next } = await start()
    expect(await next('1.0.0')).toHaveLength(1)
    await world.sync()
    expect(await warnings()).toEqual([])
    expect(told).toHaveLength(1)
  })
})

it.each<[string, Parameters<typeof versionWarning>[0], Parameters<typeof versionWarning>[0], boolean]>([
  ['the same image of another server', of('a/x@sha256:1', '1.0.0'), of('b/x@sha256:1', '1.0.0'), false],
  ['another tag that may have moved', of('a/x:1', '1.0.0'), of('a/x:2', '1.0.0'), true],
  ['no versions at all', of('a/x:1'), of('a/x:2'), false],
  ['a version that is lost', of('a/x:1'), of('a/x:2', '1.0.0'), true],
  ['a version that is new', of('a/x:1', '1.0.0'), of('a/x:2'), false],
  ['a pre-release of the same version', of('a/x:1', '1.0.0-rc.1'), of('a/x:2', '1.0.0'), true],
  ['another build of the same version', of('a/x:1', '1.0.0+2'), of('a/x:2', '1.0.0+1'), true],
])('%s', (_, found, other, warns) => {
  expect(versionWarning(found, [other]) !== undefined).toBe(warns)
})

function of(image: string, bundleVersion?: string) {
  return { image, digest: 'sha256:1', source: 's', bundleVersion }
}

it('what lint warns of is told by the sync, and kept with the revision', async () => {
  const source = 'version: 1.0\nname: db\ndescription: d\nnonsense: 1\nplans: [{ name: small, description: s }]\n'
  const { world, told, warnings } = await start(bundle('db', { source }))
  const problem = 'db: spec:4: nonsense: warning: "nonsense" is not known here and has no effect; known here: '
  expect(await warnings()).toEqual([expect.stringContaining(problem)])
  await world.sync()
  expect(await warnings()).toHaveLength(1)
  expect(told).toHaveLength(1)
})
