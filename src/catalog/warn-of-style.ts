import { isJsonObject } from '../protocol/json.ts'
import type { Path } from '../shape/place.ts'
import { objectsOf, type Report } from './problem.ts'

/** Some platforms cut or refuse longer texts (CAT-06). */
const longText = 255

/** An image may be a data URL, and schemas have a limit of their own. */
const deepest = 10
const mayBeLong: ReadonlySet<string | number | undefined> = new Set(['imageUrl', 'schemas'])

/** Warns of what is legal and yet makes trouble on some platforms. */
export function warnOfStyle(offering: Readonly<Record<string, unknown>>, path: Path, report: Report): void {
  const warn = (at: Path, problem: string, remedy: string) => report({ severity: 'warning', path: at, problem, remedy })

  /** A CLI-friendly name has letters, digits, `.` and `-` only, and is more than punctuation (CAT-11 to CAT-14). */
  const warnOfName = (name: unknown, at: Path) => {
    if (typeof name !== 'string' || name === '') return
    if (!/^[A-Za-z0-9.-]+$/.test(name) || !/[A-Za-z0-9]/.test(name))
      warn(at, `the name "${name}" is hard to type on a command line`, 'use letters, digits, "." and "-"')
  }

  const warnOfLength = (value: unknown, at: Path) => {
    const field = at.at(-1)
    if (mayBeLong.has(field) || at.length > deepest) return
    if (typeof value === 'string' && value.length > longText)
      warn(at, `"${field}" has ${value.length} characters`, `some platforms cut or refuse more than ${longText}`)
    else if (Array.isArray(value)) for (const [index, item] of value.entries()) warnOfLength(item, [...at, index])
    else if (isJsonObject(value)) for (const [key, item] of Object.entries(value)) warnOfLength(item, [...at, key])
  }

  const { name, plans, dashboardClient: client } = offering
  warnOfName(name, [...path, 'name'])
  for (const [index, plan] of objectsOf(plans)) warnOfName(plan.name, [...path, 'plans', index, 'name'])
  if (isJsonObject(client) && client.redirectUri === undefined) {
    const remedy = 'Cloud Foundry refuses the catalog without one'
    warn([...path, 'dashboardClient'], '"dashboardClient" has no redirectUri', remedy)
  }
  warnOfLength(offering, path)
}
