/** The deployments that the guides show: their times fit the settings, and their command lines run. */
import { mkdir, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { loadConfig } from '../../src/server/config.ts'
import { useBuiltPackage } from '../cli/built-package.ts'
import { blocksOf } from '../docs/pages.ts'
import { makeDeployment, type Process } from './processes.ts'

const built = useBuiltPackage()
const { shutdownDelay, shutdownGrace } = (await loadConfig({ cwd: import.meta.dirname, env: {}, flags: {} })).server
/** What the last answers get. */
const lastAnswers = 3_000

function block(page: string, language: string, holds: string): string {
  const found = blocksOf(page).find(each => each.language === language && each.text.includes(holds))
  if (found === undefined) throw new Error(`${page} has no ${language} with ${holds}`)
  return found.text
}

/** The command as the guide has it, in a folder where the broker is installed, under a name and on a free port. */
async function run(toCommand: (folder: string) => readonly string[], name: string): Promise<Process> {
  const deployment = await makeDeployment(built, {
    store: 'sqlite:ledger.db',
    osb: { requireOrgAndSpace: false },
    log: { format: 'json' },
  })
  const bin = join(deployment.folder, 'node_modules', '.bin')
  await mkdir(bin)
  await symlink(built.bin, join(bin, 'purser'))
  const env = [`PURSER_ENGINE_NAME=${name}`, 'PURSER_USERNAME=user', 'PURSER_PASSWORD=a-long-password']
  return deployment.start(['env', ...env, ...toCommand(deployment.folder), '--port', '0'])
}

describe('the Deployment of the guide', () => {
  const { kind, spec } = parse(block('docs/guides/replicas.md', 'yaml', 'kind: Deployment'))
  const { terminationGracePeriodSeconds, containers } = spec.template.spec
  const [container] = containers

  it('selects its own pods, and gives a replica the time that it takes to end', () => {
    expect(kind).toBe('Deployment')
    expect(spec.selector.matchLabels).toEqual(spec.template.metadata.labels)
    expect(terminationGracePeriodSeconds * 1000).toBeGreaterThan(shutdownDelay + shutdownGrace + lastAnswers)
  })

  it('is taken out of the load balancer within the delay', () => {
    const { periodSeconds } = container.readinessProbe
    expect(periodSeconds * 1000).toBeLessThanOrEqual(shutdownDelay)
  })

  it('starts a broker that its probes find well', async () => {
    const { url } = await run(
      folder => [join(folder, container.args[0]), ...container.args.slice(1)],
      'broker-7d9f-x2x',
    )
    for (const { httpGet } of [container.livenessProbe, container.readinessProbe])
      expect((await fetch(url.replace('0.0.0.0', '127.0.0.1') + httpGet.path)).status).toBe(200)
    expect(container.env).toEqual([
      { name: 'PURSER_ENGINE_NAME', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } },
    ])
  })
})

describe('the unit of systemd in the guide', () => {
  const unit = block('docs/guides/running.md', 'ini', '[Service]')
  const value = (key: string) => new RegExp(`^${key}=(.*)$`, 'm').exec(unit)?.[1] ?? ''

  it('gives the broker the time that it takes to end', () => {
    expect(Number(value('TimeoutStopSec')) * 1000).toBeGreaterThan(shutdownGrace + lastAnswers)
  })

  it('starts a broker that a reload ends in order, so that it is started again', async () => {
    const broker = await run(folder => value('ExecStart').replace('/srv/broker', folder).split(' '), 'broker.service')
    expect((await fetch(`${broker.url}/readyz`)).status).toBe(200)
    expect(value('Environment')).toBe('PURSER_ENGINE_NAME=%n')
    const [, , signal = ''] = /^(\S+) -(\w+) \$MAINPID$/.exec(value('ExecReload')) ?? []
    broker.signal(`SIG${signal}` as NodeJS.Signals)
    expect(await broker.ended).toBe(0)
    expect(value('Restart')).toBe('always')
  })
})
