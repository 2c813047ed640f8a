import type { Service } from '../../author/define-service.ts'
import type { BundleSpec } from '../../bundle/spec.ts'
import type { Revision } from '../../domain/revision.ts'
import { isJsonObject, type JsonObject } from '../../protocol/json.ts'
import { isBindable } from '../../protocol/offering.ts'
import { actionsOf } from './actions.ts'
import { pullTimeout } from './attempt.ts'
import { actionSettings } from './limits.ts'
import type { Bundle, BundleParts } from './parts.ts'
import { omitNamed, sensitiveNamesOf } from './secrets.ts'

/**
 * Makes a service of a revision: its actions run the bundle's in sandboxes. Like any other service it stands on the
 * author's API alone, so that all that is promised to authors is promised to bundles.
 */
export function createBundleDriver(parts: BundleParts): (revision: Revision, spec: BundleSpec) => Service {
  return (revision, spec) => createBundleService({ parts, revision, spec, sensitive: sensitiveNamesOf(spec) })
}

function createBundleService(bundle: Bundle): Service {
  const { spec, sensitive } = bundle
  const { offering } = bundle.revision
  const { bind, unbind, ...actions } = actionsOf(bundle)
  const bindable = offering.plans.some(plan => isBindable(offering, plan))
  return {
    ...offering,
    callTimeout: pullTimeout,
    actions: actionSettings(spec),
    dashboard: spec.alpha.dashboardRedirect === true ? 'redirect' : undefined,
    ...actions,
    bind: bindable ? bind : undefined,
    unbind: bindable ? unbind : undefined,
    fetchInstance: ({ body }) => withoutSecrets(body, sensitive.parameters),
    fetchBinding: ({ body }) => withoutSecrets(body, sensitive.bindParameters),
  }
}

/** A sensitive parameter is never shown, not even to the user who set it. */
function withoutSecrets(body: JsonObject, names: ReadonlySet<string>): JsonObject {
  return isJsonObject(body.parameters) ? { ...body, parameters: omitNamed(body.parameters, names) } : body
}
