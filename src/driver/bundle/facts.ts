import type { ActionContext, BindingInfo, UpdateContext } from '../../author/context.ts'
import type { AuthorAction } from '../../bundle/actions.ts'
import type { Revision } from '../../domain/revision.ts'
import { isJsonObject, type Json, type JsonObject } from '../../protocol/json.ts'
import type { SandboxOrigin } from '../../sandbox.ts'
import { secretsIn } from '../../sensitive/secrets-in.ts'
import { pickNamed, type SensitiveNames, secretsInState } from './secrets.ts'
import type { BundleState } from './state.ts'

/** All that an action is told. */
export interface ActionFacts {
  readonly ctx: ActionContext
  readonly action: AuthorAction
  readonly revision: Revision
  /** The instance's, as its parameters are. */
  readonly state: BundleState
  readonly parameters: JsonObject
  readonly binding?: BindingFacts
  readonly previous?: UpdateContext<JsonObject, JsonObject>['previous']
  /** The operator's. */
  readonly secrets: JsonObject
}

export interface BindingFacts {
  readonly info: BindingInfo
  readonly state: BundleState
  /** Absent in an unbind. */
  readonly parameters?: JsonObject
}

/** Everything in the facts that nobody may read in a log, a message or a description. */
export function secretsOf(facts: ActionFacts, sensitive: SensitiveNames): readonly string[] {
  const { parameters, binding, previous, state, secrets } = facts
  const secret: readonly Json[] = [
    secrets,
    pickNamed(parameters, sensitive.parameters),
    pickNamed(previous?.parameters ?? {}, sensitive.parameters),
    pickNamed(binding?.parameters ?? {}, sensitive.bindParameters),
    state.credentials ?? {},
    binding?.state.credentials ?? {},
  ]
  const kept = [state.values, binding?.state.values ?? {}]
  return [...new Set([...secret.flatMap(secretsIn), ...kept.flatMap(secretsInState)])]
}

/**
 * The variables that bundles of the Automation Broker read, by action. What is the broker's own wins over the operator's
 * secrets, and those over the user's parameters.
 */
export function toExtraVars(facts: ActionFacts): JsonObject {
  const { ctx, action, revision, binding, parameters, previous, secrets } = facts
  const { platform } = contextOf(facts)
  const given = binding === undefined ? parameters : (binding.parameters ?? {})
  return {
    ...given,
    ...secrets,
    namespace: namespaceOf(facts),
    cluster: text(platform),
    _apb_plan_id: ctx.plan.name,
    _apb_service_class_id: revision.serviceId,
    _apb_service_instance_id: ctx.instance.id,
    _apb_last_requesting_user: userOf(ctx.identity),
    _apb_bundle_version: revision.bundleVersion ?? '',
    _apb_service_binding_id: binding?.info.id,
    // Playbooks break where it is not defined.
    ...(action === 'provision' ? {} : { _apb_provision_creds: facts.state.credentials ?? {} }),
    ...(action === 'unbind' ? { _apb_bind_creds: binding?.state.credentials ?? {}, provision_params: parameters } : {}),
    ...(previous && {
      _apb_previous_plan_id: planName(revision, previous.planId),
      _apb_previous_parameters: previous.parameters,
    }),
  }
}

/** `$BUNDLE_INPUT`. */
export function toInput(facts: ActionFacts): JsonObject {
  const { ctx, action, revision, binding, parameters, previous, state, secrets } = facts
  return {
    action,
    operation: ctx.operation.id,
    instance: { id: ctx.instance.id },
    binding: binding && { id: binding.info.id, appGuid: binding.info.appGuid },
    service: { id: revision.serviceId, name: revision.fullName },
    plan: { id: ctx.plan.id, name: ctx.plan.name },
    parameters,
    bindParameters: binding?.parameters,
    context: contextOf(facts),
    user: userOf(ctx.identity),
    credentials: { provision: state.credentials, bind: binding?.state.credentials },
    previous: previous && {
      plan: { id: previous.planId, name: planName(revision, previous.planId) },
      parameters: previous.parameters,
      bundleVersion: previous.maintenanceVersion,
    },
    bundleVersion: revision.bundleVersion,
    secrets,
  }
}

function planName({ offering }: Revision, planId: string): string {
  return offering.plans.find(({ id }) => id === planId)?.name ?? planId
}

/** Empty where the platform named none. */
export function namespaceOf(facts: ActionFacts): string {
  return text(contextOf(facts).namespace)
}

/** Whom it is for. Only a platform that is a cluster itself names namespaces and users that a cluster knows. */
export function originOf(facts: ActionFacts): SandboxOrigin {
  const { ctx, revision } = facts
  const { platform, user } = ctx.identity ?? {}
  const { username, uid, groups } = platform === 'kubernetes' && isJsonObject(user) ? user : {}
  const named = Array.isArray(groups) ? groups.filter(group => typeof group === 'string') : []
  return {
    bundle: revision.fullName,
    namespace: namespaceOf(facts) || undefined,
    user: typeof username === 'string' ? { username, uid: text(uid) || undefined, groups: named } : undefined,
  }
}

function contextOf({ ctx, binding }: ActionFacts): JsonObject {
  return { ...ctx.instance.context, ...binding?.info.context }
}

/** As the platform named who asked; the user's name where it gave one. */
function userOf(identity: JsonObject | undefined): string {
  const user = isJsonObject(identity?.user) ? identity.user : {}
  return text(user.username) || text(user.uid) || text(user.user_id)
}

function text(value: Json | undefined): string {
  return typeof value === 'string' ? value : ''
}
