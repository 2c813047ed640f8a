import { systemClock } from '../../clock.ts'
import type { Mistake } from '../../shape/mistake.ts'
import { messageOf } from '../../shape/thrown.ts'
import { formatMistake } from '../config/mistake.ts'
import { ConfigError, type LoadConfigOptions, loadConfig } from '../config.ts'
import { checkAccess } from './access.ts'
import { checkBroker } from './broker.ts'
import { checkFiles } from './files.ts'
import { type Check, type Examined, type Finding, longest } from './finding.ts'
import { checkRegistries } from './registries.ts'
import { checkRuntimes } from './runtimes.ts'
import { checkStore } from './store.ts'
import { checkTls } from './tls.ts'

/** Everything that is looked at, in the order in which it is told. */
const checks: Readonly<Record<string, Check>> = {
  broker: checkBroker,
  store: checkStore,
  access: checkAccess,
  tls: checkTls,
  files: checkFiles,
  registries: checkRegistries,
  runtimes: checkRuntimes,
}

/** Looks at everything that a broker with these settings would need. Starts and changes nothing. */
export async function examine(options: Omit<LoadConfigOptions, 'terminal'>): Promise<readonly Finding[]> {
  const { env, cwd } = options
  let examined: Examined
  try {
    const config = await loadConfig(options)
    examined = { config, env, cwd, clock: systemClock, signal: AbortSignal.timeout(longest) }
  } catch (error) {
    if (error instanceof ConfigError) return error.mistakes.map(toWrong)
    throw error
  }
  const found = await Promise.all(Object.entries(checks).map(([name, check]) => look(name, check, examined)))
  return [...judgeConfig(examined), ...found.flat()]
}

const about = 'configuration'
const expected = 'settings without a mistake'

function toWrong({ remedy = 'Correct it.', ...mistake }: Mistake): Finding {
  return { state: 'wrong', about, expected, found: formatMistake(mistake), remedy }
}

function judgeConfig({ config }: Examined): readonly Finding[] {
  const found = config.file ?? 'there is no file: the environment and the defaults'
  const warnings = config.warnings.map(
    warning =>
      ({
        state: 'warning',
        about,
        expected,
        found: warning,
        remedy: 'Correct it, or leave it if it is meant.',
      }) as const,
  )
  return [{ state: 'ok', about, expected, found }, ...warnings]
}

/** A check that fails by itself says so, and the others go on. */
async function look(name: string, check: Check, examined: Examined): Promise<readonly Finding[]> {
  try {
    return await check(examined)
  } catch (error) {
    const remedy = 'This look itself has failed: correct what it names, or report it as a defect.'
    return [{ state: 'wrong', about: name, expected: 'it can be looked at', found: messageOf(error), remedy }]
  }
}
