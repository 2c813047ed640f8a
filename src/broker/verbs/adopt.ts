import { randomUUID } from 'node:crypto'
import { bundleStateSchema } from '../../bundle/state-schema.ts'
import { checkValue } from '../../catalog/parameters.ts'
import {
  type AdoptAnswer,
  type AdoptedBinding,
  type AdoptedInstance,
  decideAdopt,
  decideAdoptBinding,
} from '../../domain/decide-adopt.ts'
import { type Instance, type InstanceMetadata, liveInstance } from '../../domain/instance.ts'
import { limits } from '../../domain/limits.ts'
import { newId } from '../../domain/new-id.ts'
import type { Acting } from '../../domain/operator.ts'
import { bindAttributes, hashRequest, provisionAttributes } from '../../domain/request-hash.ts'
import { BrokerError } from '../../protocol/errors.ts'
import type { JsonObject } from '../../protocol/json.ts'
import { isBindable } from '../../protocol/offering.ts'
import type { BindRequest, ProvisionRequest } from '../../protocol/requests.ts'
import { RevisionGoneError } from '../../store.ts'
import type { BrokerContext } from '../context.ts'
import { findOffered } from '../find-offered.ts'
import { type FoundPlan, planOf } from '../find-plan.ts'
import type { ResolvedService } from '../resolve-services.ts'
import { checkParameters, type ServiceSchemas } from '../service-schemas.ts'
import { unknownRevision } from './move.ts'
import { tell } from './tell.ts'

/** What another broker knew of an instance: what its platform asked for, and what came of it. */
export interface InstanceToAdopt {
  readonly id: string
  readonly platform: string
  readonly request: ProvisionRequest
  readonly state: JsonObject
  readonly dashboardUrl?: string | undefined
  readonly metadata?: InstanceMetadata | undefined
  /** The one that is offered now where it is absent. */
  readonly revisionId?: string | undefined
  readonly createdAt?: number | undefined
  readonly bindings: readonly BindingToAdopt[]
}

export interface BindingToAdopt {
  readonly id: string
  readonly request: Pick<BindRequest, 'context' | 'parameters' | 'bindResource' | 'appGuid'>
  readonly state: JsonObject
  /** The wire body of a fetched binding without `parameters`. */
  readonly result: JsonObject
  readonly expiresAt?: number | undefined
  readonly renewBefore?: number | undefined
  readonly createdAt?: number | undefined
}

interface Adoption {
  readonly outcome: AdoptAnswer
  /** What was taken as it is, though it would be refused today. */
  readonly warnings: readonly string[]
}

export interface BindingAdoption extends Adoption {
  readonly id: string
}

export interface InstanceAdoption extends Adoption {
  readonly serviceId: string
  readonly planId: string
  readonly revisionId?: string | undefined
  readonly bindings: readonly BindingAdoption[]
}

interface Adopting {
  readonly acting: Acting
  readonly dryRun: boolean
}

/** Takes over an instance that another broker made, and its bindings, in one transaction. */
export async function adoptInstance(
  broker: BrokerContext,
  { acting, dryRun }: Adopting,
  given: InstanceToAdopt,
): Promise<InstanceAdoption> {
  const { id, request, revisionId, state, bindings, ...others } = given
  const { serviceId, planId, context, maintenanceVersion } = request
  const found = await findPlan(broker, request, revisionId)
  const { service, schemas } = found
  await checkState(service, 'state', state)
  const { parameters, warnings } = await fitParameters(schemas.create, request.parameters)
  const instance: AdoptedInstance = {
    ...others,
    id,
    serviceId,
    planId,
    context,
    parameters,
    state,
    maintenanceVersion,
    requestHash: hashRequest(provisionAttributes(request)),
    revisionId: service.revisionId,
    dashboardToken: randomUUID(),
    observed: service.code.observe !== undefined,
  }
  const checked = await Promise.all(bindings.map(binding => checkBinding(found, binding)))
  const intent = { ...acting, dryRun, newId: () => newId(broker.clock.now()) }
  const all = { ...intent, instance, bindings: checked.map(({ binding }) => binding) }
  const outcome = await broker.store
    .accept({ instanceId: id }, snapshot => decideAdopt(snapshot, all))
    .catch(error => {
      throw error instanceof RevisionGoneError ? unknownRevision(service.revisionId ?? '') : error
    })
  if (outcome === 'adopted' && !dryRun) tell(broker, 'adopt', acting, { instanceId: id })
  return {
    outcome,
    serviceId,
    planId,
    revisionId: service.revisionId,
    warnings,
    bindings:
      outcome === 'adopted'
        ? checked.map(each => ({ id: each.binding.id, outcome, warnings: each.warnings }))
        : await addBindings(broker, { acting, dryRun }, id, checked),
  }
}

/** Takes over bindings of an instance that is here. */
export async function adoptBindings(
  broker: BrokerContext,
  adopting: Adopting,
  { instanceId, bindings }: { readonly instanceId: string; readonly bindings: readonly BindingToAdopt[] },
): Promise<readonly BindingAdoption[]> {
  const instance = liveInstance(await broker.store.instance(instanceId))
  const found = planOf(serviceOf(broker, instance), instance.planId)
  const checked = await Promise.all(bindings.map(binding => checkBinding(found, binding)))
  return addBindings(broker, adopting, instanceId, checked)
}

interface CheckedBinding {
  readonly binding: AdoptedBinding
  readonly warnings: readonly string[]
}

/** Nothing is written where one of them is refused: all are judged first. */
async function addBindings(
  broker: BrokerContext,
  { acting, dryRun }: Adopting,
  instanceId: string,
  checked: readonly CheckedBinding[],
): Promise<readonly BindingAdoption[]> {
  const add = async (each: CheckedBinding, isTry: boolean): Promise<BindingAdoption> => {
    const { binding, warnings } = each
    const target = { instanceId, bindingId: binding.id }
    const intent = { ...acting, dryRun: isTry, newId: () => newId(broker.clock.now()), instanceId, binding }
    const outcome = await broker.store.accept(target, snapshot => decideAdoptBinding(snapshot, intent))
    if (outcome === 'adopted' && !isTry) tell(broker, 'adopt', acting, target)
    return { id: binding.id, outcome, warnings }
  }
  const judged: BindingAdoption[] = []
  for (const each of checked) judged.push(await add(each, true))
  if (dryRun) return judged
  const done: BindingAdoption[] = []
  for (const each of checked) done.push(await add(each, false))
  return done
}

async function checkBinding({ service, plan, schemas }: FoundPlan, given: BindingToAdopt): Promise<CheckedBinding> {
  const { id, request, state, result, ...times } = given
  if (!isBindable(service.offering, plan))
    throw new BrokerError('NotBindable', `Instances of this plan cannot be bound: ${id} is a binding of one.`)
  await checkState(service, 'bindingState', state)
  checkSize(`the answer of the binding ${id}`, result, limits.bindingBytes)
  const { context = {}, bindResource = {}, appGuid, parameters: asked = {} } = request
  const { parameters, warnings } = await fitParameters(schemas.bind, asked)
  const ids = { serviceId: service.offering.id, planId: plan.id }
  const requestHash = hashRequest(bindAttributes({ ...ids, parameters: asked, bindResource, appGuid }))
  const binding = { ...times, ...ids, id, context, bindResource, appGuid, parameters, state, result, requestHash }
  return { binding, warnings }
}

async function findPlan(
  broker: BrokerContext,
  { serviceId, planId }: ProvisionRequest,
  revisionId: string | undefined,
): Promise<FoundPlan> {
  if (revisionId === undefined) {
    const offered = await findOffered(broker, serviceId, planId)
    if (offered.kind === 'now') return offered
    throw offered.refusal ?? catalogUnknown()
  }
  const named = broker.registered?.at(revisionId)
  if (named === undefined) throw unknownRevision(revisionId)
  if (named.offering.id !== serviceId)
    throw new BrokerError('UnknownRevision', `Revision "${revisionId}" is one of service ${named.offering.id}.`)
  return planOf(named, planId)
}

function catalogUnknown(): BrokerError {
  return new BrokerError('CatalogUnknown', 'Not all registries have answered yet. Repeat the request.', {
    retryAfter: 5,
  })
}

function serviceOf({ services }: BrokerContext, instance: Instance): ResolvedService {
  const service = services.of(instance)
  if (service === undefined) throw new BrokerError('UnknownService', 'The service of the instance is not here now.')
  return service
}

/** What the other broker accepted stays as it is where today's schema refuses it: an instance is not made undone by that. */
async function fitParameters(
  schema: ServiceSchemas['create'],
  given: JsonObject,
): Promise<{ readonly parameters: JsonObject; readonly warnings: readonly string[] }> {
  checkSize('parameters', given, limits.stateBytes)
  const checked = await checkParameters(schema, given)
  try {
    return { parameters: checked(), warnings: [] }
  } catch (error) {
    if (!(error instanceof BrokerError)) throw error
    return { parameters: given, warnings: [`${error.message} They are kept as they are.`] }
  }
}

/** The next action would fail with a state that does not fit. */
async function checkState(service: ResolvedService, kind: 'state' | 'bindingState', state: JsonObject): Promise<void> {
  checkSize(kind, state, limits.stateBytes)
  const { code, revisionId } = service
  const schema = code[kind] ?? (revisionId === undefined ? undefined : bundleStateSchema)
  const checked = schema && (await checkValue(schema, state, 'state'))
  if (checked === undefined || checked.ok) return
  const whose = kind === 'state' ? 'state' : 'state of the binding'
  throw new BrokerError(
    'InvalidState',
    `The ${whose} does not fit what the service keeps: ${checked.problems.join('; ')}.`,
  )
}

function checkSize(what: string, value: JsonObject, most: number): void {
  const bytes = Buffer.byteLength(JSON.stringify(value))
  if (bytes > most)
    throw new BrokerError('InvalidState', `${what} has ${bytes} bytes of JSON, and at most ${most} are allowed.`)
}
