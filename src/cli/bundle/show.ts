import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { bundleActions } from '../../bundle/actions.ts'
import { checkBundle } from '../../bundle/check-bundle.ts'
import { checkFolder, containerfileOf } from '../../bundle/check-folder.ts'
import type { BundleSpec } from '../../bundle/spec.ts'
import { toWireCatalog } from '../../catalog/wire-catalog.ts'
import { latestMinor } from '../../protocol/api-version.ts'
import { isJsonObject, type JsonObject } from '../../protocol/json.ts'
import { isBindable, type Offering, type Plan } from '../../protocol/offering.ts'
import { isError } from '../../shape/mistake.ts'
import { valueAt } from '../../shape/place.ts'
import { failure } from '../cli-error.ts'
import type { CliIo } from '../io.ts'
import { renderFields, withoutNull } from '../render/fields.ts'
import { renderJson } from '../render/json.ts'
import { renderTable } from '../render/tables.ts'
import { render, toProblem } from './lint.ts'
import { readSpecFile } from './spec-file.ts'

export interface ShowOptions {
  readonly path: string
  readonly registry: string
  readonly output: 'json' | 'text'
}

/** What a platform will see of a bundle, what would run, and what is wrong with it. */
export async function showBundle(io: CliIo, { path, registry, output }: ShowOptions): Promise<void> {
  const { shown, text, folder } = await readSpecFile(path, io.cwd)
  const { bundle, program, problems: ofSpec } = await checkBundle(text, { where: shown, registry })
  const ofFolder = folder === undefined ? [] : await checkFolder({ path: folder, shown: path }, program)
  const problems = [...ofSpec, ...ofFolder]
  const runs = bundle && folder !== undefined ? runsOf(folder, bundle.spec) : undefined
  const ok = !problems.some(isError)
  const services = bundle && toWireCatalog([bundle.offering], latestMinor).services
  const result = withoutNull({ path, ok, service: valueAt(services, [0]), runs, problems: problems.map(toProblem) })
  if (output === 'text')
    io.stdout.write((bundle ? renderService(bundle.offering, runs) : '') + render({ path, problems }))
  else if (ok) io.stdout.write(renderJson(result))
  if (ok) return
  throw failure(
    {
      what: `${path} cannot be used`,
      why: bundle === undefined ? 'its spec has errors, listed above' : 'it has errors, listed above',
      next: 'Correct them: no broker would offer it.',
    },
    result,
  )
}

/** The program of the folder, and what an image of it is built with. */
function runsOf(folder: string, { entrypoint = 'entrypoint.sh', manifests }: BundleSpec): JsonObject {
  if (manifests !== undefined) return { cluster: kindsOf(manifests) }
  const program = existsSync(join(folder, entrypoint)) ? entrypoint : undefined
  return withoutNull({ folder: program, image: containerfileOf(folder) })
}

function kindsOf(manifests: NonNullable<BundleSpec['manifests']>): string {
  const made = bundleActions.flatMap(action => manifests[action].filter(({ mode }) => mode !== 'read'))
  return [...new Set(made.map(({ template }) => template.kind))].join(', ')
}

function renderService(offering: Offering, runs: JsonObject = {}): string {
  const { name, id, description, bindable, tags = [], plans } = offering
  const facts = {
    service: name,
    id,
    description,
    version: plans[0]?.maintenanceInfo?.version,
    bindable,
    tags: tags.length === 0 ? undefined : tags.join(', '),
    'makes in a cluster': runs.cluster,
    'runs as a folder': runs.folder,
    'runs as an image': runs.image && `built with ${runs.image}`,
  }
  const rows = plans.map(plan => [
    plan.name,
    plan.id,
    plan.free === false ? 'paid' : 'free',
    isBindable(offering, plan) ? 'yes' : 'no',
    plan.description,
  ])
  const parameters = plans.flatMap(parametersOf)
  return [
    renderFields(withoutNull(facts)),
    renderTable([['PLAN', 'ID', 'COST', 'BINDABLE', 'DESCRIPTION'], ...rows]),
    ...(parameters.length === 0
      ? []
      : [renderTable([['PLAN', 'PARAMETER', 'TYPE', 'FOR', 'DEFAULT', 'TITLE'], ...parameters])]),
    '',
  ].join('\n')
}

function parametersOf({ name: plan, schemas }: Plan): string[][] {
  const create = propertiesOf(schemas?.serviceInstance?.create?.parameters)
  const update = new Map(propertiesOf(schemas?.serviceInstance?.update?.parameters))
  const bind = propertiesOf(schemas?.serviceBinding?.create?.parameters)
  return [
    ...create.map(([name, of]) => toRow(plan, name, update.has(name) ? 'provision, update' : 'provision', of)),
    ...bind.map(([name, of]) => toRow(plan, name, 'bind', of)),
  ]
}

interface Property {
  readonly schema: JsonObject
  readonly isRequired: boolean
}

function propertiesOf({ properties, required }: JsonObject = {}): (readonly [name: string, Property])[] {
  const names = Array.isArray(required) ? required : []
  return Object.entries(isJsonObject(properties) ? properties : {}).map(([name, schema]) => [
    name,
    { schema: isJsonObject(schema) ? schema : {}, isRequired: names.includes(name) },
  ])
}

function toRow(plan: string, name: string, use: string, { schema, isRequired }: Property): string[] {
  const { type, default: value, title } = schema
  const shown = value === undefined ? '-' : JSON.stringify(value)
  return [
    plan,
    name,
    [type ?? 'any'].flat().join(' or '),
    use,
    isRequired && value === undefined ? 'required' : shown,
    typeof title === 'string' ? title : '',
  ]
}
