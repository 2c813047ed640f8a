import { isJsonObject } from '../protocol/json.ts'
import type { Path } from '../shape/place.ts'
import type { Report } from './problem.ts'

/** Some platforms cut or refuse longer texts (CAT-06). */
const longText = 255

/** Warns of what is legal and yet makes trouble on some platforms. */
export function warnOfStyle(offering: Readonly<Record<string, unknown>>, path: Path, report: Report): void {
  warnOfName(offering.name, path, report)
  if (Array.isArray(offering.plans))
    for (const [index, plan] of offering.plans.entries())
      if (isJsonObject(plan)) warnOfName(plan.name, [...path, 'plans', index], report)
  const client = offering.dashboardClient
  if (isJsonObject(client) && client.redirectUri === undefined)
    report({
      severity: 'warning',
      path: [...path, 'dashboardClient'],
      problem: '"dashboardClient" has no redirectUri',
      remedy: 'Cloud Foundry refuses the catalog without one',
    })
  warnOfLength(offering, path, report)
}

/** A CLI-friendly name has letters, digits, `.` and `-` only, and is more than punctuation (CAT-11 to CAT-14). */
function warnOfName(name: unknown, path: Path, report: Report): void {
  if (typeof name !== 'string' || name === '') return
  if (!/^[A-Za-z0-9.-]+$/.test(name) || !/[A-Za-z0-9]/.test(name))
    report({
      severity: 'warning',
      path: [...path, 'name'],
      problem: `the name "${name}" is hard to type on a command line`,
      remedy: 'use letters, digits, "." and "-"',
    })
}

/** An image may be a data URL, and schemas have a limit of their own. */
const deepest = 10
const mayBeLong: ReadonlySet<string | number | undefined> = new Set(['imageUrl', 'schemas'])

function warnOfLength(value: unknown, path: Path, report: Report): void {
  const field = path.at(-1)
  if (mayBeLong.has(field) || path.length > deepest) return
  if (typeof value === 'string' && value.length > longText)
    report({
      severity: 'warning',
      path,
      problem: `"${field}" has ${value.length} characters`,
      remedy: `some platforms cut or refuse more than ${longText}`,
    })
  else if (Array.isArray(value))
    for (const [index, item] of value.entries()) warnOfLength(item, [...path, index], report)
  else if (isJsonObject(value))
    for (const [key, item] of Object.entries(value)) warnOfLength(item, [...path, key], report)
}
