import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { parse, stringify } from 'yaml'
import { metricsTable } from '../../src/observer/metrics/table.ts'
import { startTestBroker } from '../../src/testing/test-broker.ts'
import { ids, incomplete, minutes, serviceOf } from '../engine/world.ts'
import { findPromtool, runPromtool } from '../external/promtool.ts'
import { whyNot } from '../external/wanted.ts'
import { scrape } from '../observer/scrape.ts'

const folder = join(import.meta.dirname, '..', '..', 'deploy')
const alertsFile = join(folder, 'prometheus', 'alerts.yaml')
const dashboardFile = join(folder, 'grafana', 'purser.json')

interface Rule {
  readonly alert: string
  readonly expr: string
}
const { groups } = parse(readFileSync(alertsFile, 'utf8')) as { groups: readonly { rules: readonly Rule[] }[] }
const rules = groups.flatMap(group => group.rules)

interface Panel {
  readonly title: string
  readonly type: string
  readonly targets?: readonly { readonly expr: string }[]
  readonly panels?: readonly Panel[]
}
const dashboard = JSON.parse(readFileSync(dashboardFile, 'utf8')) as { panels: readonly Panel[] }

/** Every name in an expression that could be a metric. */
function metricsIn(expr: string): readonly string[] {
  const names = expr.match(/\b(?:purser|http|db|process)_\w+/g) ?? []
  return names.map(name => name.replace(/_(?:bucket|sum|count)$/, ''))
}

function labelsIn(expr: string): readonly string[] {
  const matched = [...expr.matchAll(/\{([^}]*)\}/g)].flatMap(([, inner = '']) => [...inner.matchAll(/(\w+)\s*[!=]/g)])
  const grouped = [...expr.matchAll(/by \(([^)]*)\)/g)].flatMap(([, inner = '']) => [...inner.matchAll(/(\w+)/g)])
  return [...matched, ...grouped]
    .map(([, label = '']) => label)
    .filter(label => !['job', 'le', 'instance'].includes(label))
}

const panels = dashboard.panels.flatMap(panel => [panel, ...(panel.panels ?? [])])
const expressions = [
  ...rules.map(({ alert, expr }) => [alert, expr] as const),
  ...panels.flatMap(({ title, targets = [] }) => targets.map(({ expr }) => [title, expr] as const)),
]

describe('alerts and dashboard', () => {
  it.each(expressions)('%s refers only to metrics and labels that exist', (_title, expr) => {
    const names = metricsIn(expr)
    expect(names.length).toBeGreaterThan(0)
    for (const name of names) expect(Object.keys(metricsTable)).toContain(name)
    const labels: readonly string[] = names.flatMap(name => metricsTable[name as keyof typeof metricsTable].labels)
    for (const label of labelsIn(expr)) expect(labels).toContain(label)
  })

  it('have a row for each part of a broker', () => {
    expect(dashboard.panels.filter(({ type }) => type === 'row').map(({ title }) => title)).toEqual([
      'Outcomes',
      'Requests',
      'Waiting',
      'Steps',
      'Slots and leases',
      'Store',
      'Inventory and revisions',
      'Chores and sandboxes',
    ])
  })
})

const why = await whyNot('promtool', findPromtool, 'PROMETHEUS_TESTS')

describe.skipIf(why !== undefined)(`what Prometheus says${why === undefined ? '' : ` (${why})`}`, () => {
  it('of the rules: they are right', async () => {
    expect(await runPromtool(['check', 'rules', alertsFile])).toContain(`${rules.length} rules found`)
  })

  it('of what a broker serves: it can be read, and names are as they should be', async () => {
    const service = serviceOf({ provision: async ({ step }) => void (await step('create', () => 1)) })
    const settings = { osb: { requireOrgAndSpace: false }, metrics: { serve: 'open' } } as const
    const broker = await startTestBroker({ services: [service], settings })
    onTestFinished(() => broker.stop())
    await broker.client.provision('i', ids, incomplete)
    await broker.clock.advance(minutes(2))
    expect(await runPromtool(['check', 'metrics'], (await scrape(broker)).text)).toBe('')
  })

  /** What each alert is about happens in these series, and has not happened a little earlier. Minutes, one value each. */
  interface Cause {
    readonly series: Record<string, string>
    readonly at: string
    readonly quietAt: string
  }
  const causes: Record<string, Cause> = {
    PurserNoWorkerSlots: {
      series: { 'purser_worker_slots{job="purser",state="free"}': '3x2 0x20' },
      at: '10m',
      quietAt: '5m',
    },
    PurserOperationsWait: {
      series: { 'purser_operation_oldest_due_seconds{job="purser",action="bind"}': '0+60x20' },
      at: '5m',
      quietAt: '2m',
    },
    PurserNothingClaimed: {
      series: {
        'purser_operations_accepted_total{job="purser",action="bind",service="s",plan="p"}': '0+1x60',
        'purser_lease_claims_total{job="purser",kind="first"}': '0+1x20 20x40',
      },
      at: '40m',
      quietAt: '20m',
    },
    PurserOperationsFail: {
      series: {
        'purser_operations_finished_total{job="purser",action="bind",service="s",plan="p",outcome="succeeded"}':
          '0+1x60',
        'purser_operations_finished_total{job="purser",action="bind",service="s",plan="p",outcome="failed"}':
          '0x20 0+1x40',
      },
      at: '50m',
      quietAt: '22m',
    },
    PurserPastDeadline: {
      series: { 'purser_operations_past_deadline{job="purser",action="bind"}': '0x5 1x20' },
      at: '15m',
      quietAt: '7m',
    },
    PurserOperationsHeld: {
      series: { 'purser_operations{job="purser",action="bind",state="held"}': '0x5 1x40' },
      at: '25m',
      quietAt: '15m',
    },
    PurserTakeovers: {
      series: { 'purser_lease_claims_total{job="purser",kind="takeover"}': '0x10 0+1x20' },
      at: '20m',
      quietAt: '10m',
    },
    PurserStepRetries: {
      series: {
        'purser_step_attempts_total{job="purser",service="s",action="bind",step="x",outcome="succeeded"}': '0+1x60',
        'purser_step_attempts_total{job="purser",service="s",action="bind",step="x",outcome="retried"}': '0x20 0+3x40',
      },
      at: '40m',
      quietAt: '20m',
    },
    PurserChoreLate: {
      series: {
        'purser_chore_last_success_timestamp_seconds{job="purser",chore="purge"}': '0x20',
        'purser_chore_interval_seconds{job="purser",chore="purge"}': '60x20',
      },
      at: '6m',
      quietAt: '3m',
    },
    PurserStoreSlow: {
      series: {
        'db_client_operation_duration_seconds_bucket{job="purser",system="sqlite",operation="accept",le="0.5"}':
          '0+60x10 600x40',
        'db_client_operation_duration_seconds_bucket{job="purser",system="sqlite",operation="accept",le="1"}':
          '0+60x50',
        'db_client_operation_duration_seconds_bucket{job="purser",system="sqlite",operation="accept",le="+Inf"}':
          '0+60x50',
      },
      at: '25m',
      quietAt: '9m',
    },
    PurserRegistrySilent: {
      series: { 'purser_registry_up{job="purser",registry="hub"}': '1x5 0x40' },
      at: '25m',
      quietAt: '10m',
    },
    PurserSnapshotOld: {
      series: { 'purser_snapshot_timestamp_seconds{job="purser"}': '0x40' },
      at: '20m',
      quietAt: '9m',
    },
  }

  /** Answers, but never in full, for six syncs of a broker that asks every three hours. */
  const partial: Cause = {
    series: {
      'purser_registry_up{job="purser",registry="hub"}': '1x2000',
      'purser_registry_last_complete_timestamp_seconds{job="purser",registry="hub"}': '0x2000',
      'purser_chore_interval_seconds{job="purser",chore="sync"}': '10800x2000',
      'purser_chore_interval_seconds{job="purser",chore="purge"}': '3600x2000',
    },
    at: '19h',
    quietAt: '17h',
  }
  const cases = rules.map(({ alert }) => [alert, causes[alert]] as const)

  it.each([...cases, ['PurserRegistrySilent', partial] as const])(
    '%s fires when it should, and not before',
    async (alert, cause) => {
      if (cause === undefined) throw new Error(`nothing causes ${alert}`)
      const place = mkdtempSync(join(tmpdir(), 'purser-alerts-'))
      onTestFinished(() => rmSync(place, { recursive: true }))
      const tests = [
        {
          interval: '1m',
          input_series: Object.entries(cause.series).map(([series, values]) => ({ series, values })),
          promql_expr_test: [
            {
              expr: `count(ALERTS{alertname="${alert}",alertstate="firing"}) > 0`,
              eval_time: cause.at,
              exp_samples: [{ labels: '{}', value: 1 }],
            },
            {
              expr: `count(ALERTS{alertname="${alert}",alertstate="firing"}) > 0`,
              eval_time: cause.quietAt,
              exp_samples: [],
            },
          ],
        },
      ]
      const file = join(place, 'test.yaml')
      writeFileSync(file, stringify({ rule_files: [alertsFile], evaluation_interval: '1m', tests }))
      await runPromtool(['test', 'rules', file])
    },
  )
})
