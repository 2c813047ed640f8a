import type { AdoptedBody, OsbResponse } from '../client/index.ts'
import { isJsonObject, type Json, type JsonObject } from '../protocol/json.ts'
import { count } from '../shape/count.ts'
import { CliError } from './cli-error.ts'
import { type Item, notItems, readItems } from './read-items.ts'
import { explain } from './refusal.ts'
import { toLine } from './render/printable.ts'
import type { Session } from './session.ts'
import { showCount } from './show-count.ts'

export interface AdoptFlags {
  readonly reason: string
  readonly dryRun?: boolean
}

/** What became of one instance, or of one binding. */
interface Verdict {
  readonly at: string
  readonly instance_id: string
  readonly binding_id?: string
  readonly outcome: 'adopted' | 'unchanged' | 'refused'
  readonly reason?: string
  readonly warnings?: readonly string[]
}

/** One request: an instance with its bindings, or bindings of one that the file does not have. */
interface Group {
  readonly instanceId: string
  readonly instance?: Item
  readonly bindings: Item[]
}

/** How many requests are under way at a time. */
const lanes = 8

/** Adopts what a file lists. What is here already is skipped, so that the same file can be sent again. */
export async function adoptMany(session: Session, file: string, flags: AdoptFlags): Promise<void> {
  const groups = toGroups(file, await readItems(session.io, '--file', file))
  const verdicts: Verdict[] = []
  const progress = showCount(session.io, flags.dryRun ? 'look at instances' : 'adopt instances', groups.length)
  try {
    for (let first = 0; first < groups.length; first += lanes) {
      const some = groups.slice(first, first + lanes)
      verdicts.push(...(await Promise.all(some.map(group => adoptGroup(session, group, flags)))).flat())
      progress.update(first + some.length)
    }
  } finally {
    progress.stop()
  }
  conclude(session, verdicts, flags)
}

function toGroups(file: string, items: readonly Item[]): readonly Group[] {
  const groups = new Map<string, Group>()
  for (const item of items) {
    const { instance_id: instanceId, binding_id: bindingId } = item.value
    if (typeof instanceId !== 'string' || instanceId === '') throw notItems(file, `${item.at} has no instance_id`)
    const group = groups.get(instanceId) ?? { instanceId, bindings: [] }
    if (typeof bindingId === 'string') group.bindings.push(item)
    else if (group.instance !== undefined)
      throw notItems(file, `${item.at} has the instance_id of ${group.instance.at}`)
    groups.set(instanceId, typeof bindingId === 'string' ? group : { ...group, instance: item })
  }
  return [...groups.values()]
}

async function adoptGroup(session: Session, group: Group, { reason, dryRun }: AdoptFlags): Promise<readonly Verdict[]> {
  const { instanceId, instance } = group
  const { instance_id: _id, bindings: nested, ...own } = instance?.value ?? {}
  const within = toObjects(nested).map(value => ({ at: instance?.at ?? '', value }))
  const items = [...within, ...group.bindings]
  const bindings = items.map(({ value: { instance_id: _of, service_id: _service, plan_id: _plan, ...rest } }) => rest)
  const body = { ...own, bindings, reason, dry_run: dryRun }
  const { admin } = session
  const response = await (instance ? admin.adoptInstance(instanceId, body) : admin.adoptBindings(instanceId, body))
  return toVerdicts(group, items, response)
}

function toObjects(value: Json | undefined): readonly JsonObject[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : []
}

function toVerdicts(
  { instanceId, instance }: Group,
  items: readonly Item[],
  response: OsbResponse<AdoptedBody>,
): readonly Verdict[] {
  const { status, body } = response
  const told = new Map(body.bindings?.map(binding => [binding.binding_id, binding]))
  const refused = { outcome: 'refused', reason: explain(response) } as const
  const isRefused = status !== 200 && status !== 201
  const about = ({ at, value }: Item) => ({ at, instance_id: instanceId, binding_id: value.binding_id as string })
  const { outcome = 'unchanged', warnings } = body
  return [
    ...(instance
      ? [{ at: instance.at, instance_id: instanceId, ...(isRefused ? refused : { outcome, warnings }) }]
      : []),
    ...items.map(item => ({ ...about(item), ...(told.get(String(item.value.binding_id)) ?? refused) })),
  ]
}

function conclude({ print, options }: Session, verdicts: readonly Verdict[], { dryRun = false }: AdoptFlags): void {
  const of = (outcome: Verdict['outcome']) => verdicts.filter(verdict => verdict.outcome === outcome).length
  const counts = { adopted: of('adopted'), unchanged: of('unchanged'), refused: of('refused') }
  const result = { dry_run: dryRun, ...counts, items: verdicts }
  const said = `${counts.adopted} ${dryRun ? 'would be adopted' : 'adopted'}, ${counts.unchanged} here already, ${counts.refused} refused`
  const text = `${verdicts.map(verdict => render(verdict, dryRun)).join('')}${said}.\n`
  if (counts.refused === 0 || options.output === 'text') print(result, text)
  if (counts.refused === 0) return
  const parts = {
    what: `${count(counts.refused, 'item')} of ${verdicts.length} could not be adopted`,
    why: 'the broker refused them, for the reasons above',
    next: 'Correct them and send the same file again: what is here already is skipped.',
  }
  throw new CliError(6, parts, result)
}

function render({ at, instance_id, binding_id, outcome, reason, warnings = [] }: Verdict, dryRun: boolean): string {
  const name = binding_id === undefined ? instance_id : `${instance_id}/${binding_id}`
  const words = { adopted: dryRun ? 'would be adopted' : 'adopted', unchanged: 'is here already', refused: 'refused' }
  const lines = [`${at}: ${name}: ${words[outcome]}${reason === undefined ? '' : `: ${reason}`}`]
  for (const warning of warnings) lines.push(`${at}: ${name}: warning: ${warning}`)
  return lines.map(line => `${toLine(line)}\n`).join('')
}
