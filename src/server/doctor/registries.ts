import { openClusterLater } from '../../kubernetes/open-later.ts'
import { createRegistries } from '../../running/bundles/open.ts'
import { openSecrets } from '../../running/bundles/open-secrets.ts'
import { count } from '../../shape/count.ts'
import { messageOf } from '../../shape/thrown.ts'
import { type Check, type Examined, type Finding, longest } from './finding.ts'

/** Each registry answers, with the credentials that it is given. */
export const checkRegistries: Check = async examined => {
  const { config, env, clock } = examined
  if (config.registries.length === 0) return []
  const open = openClusterLater(config.bundles.kubernetes, { clock, env, tryFor: longest })
  const registries = createRegistries(config, { clock, env, open, secrets: openSecrets(config.bundles, open) })
  return Promise.all(registries.map(registry => ask(registry, examined)))
}

type AskedRegistry = ReturnType<typeof createRegistries>[number]

async function ask(registry: AskedRegistry, { signal }: Examined): Promise<Finding> {
  const about = `registry ${registry.name}`
  const expected = 'it answers with its bundles'
  const remedy = 'Check its url, its credentials and the network; purser registries list shows what a broker saw.'
  try {
    await registry.pullCredentials?.(signal)
  } catch (error) {
    return { state: 'wrong', about, expected, found: messageOf(error), remedy }
  }
  const answer = await registry.list(signal)
  if (answer.kind === 'failed') {
    const found = signal.aborted ? `it did not answer within ${longest / 1000} seconds` : answer.problem
    return { state: 'wrong', about, expected, found, remedy }
  }
  const found = count(answer.found.length, 'bundle')
  const [first] = answer.problems
  if (first !== undefined) return { state: 'warning', about, expected, found: `${found}, and: ${first}`, remedy }
  if (answer.found.length > 0) return { state: 'ok', about, expected, found }
  return { state: 'warning', about, expected, found: 'it has none', remedy: 'Check its white_list, org or folder.' }
}
