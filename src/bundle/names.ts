import { createHash } from 'node:crypto'

/** So many that a Kubernetes name made of it, an action and a random end still fits into 63. */
const longest = 51

/**
 * A service's name in the catalog. Names and ids follow the Automation Broker's algorithm to the letter: the instances of
 * a broker that moves here keep their service and their plan. They depend on nothing but the registry's name and the
 * spec's, so that another image, organisation or tag leaves them as they are. `variant`: where several versions of one
 * bundle are offered side by side, which that broker never did.
 */
export function fullName(registry: string, name: string, variant?: string): string {
  const whole = [registry, name, variant]
    .filter(part => part !== undefined)
    .join('-')
    .replaceAll(/[/.:-]/g, '-')
  const letters = [...whole]
  // The end of the name is what tells variants apart: it must not be cut off.
  if (variant !== undefined && letters.length > longest)
    return `${letters.slice(0, longest - 9).join('')}-${md5(whole).slice(0, 8)}`
  const short = letters.slice(0, longest).join('')
  return short.endsWith('-') ? short.slice(0, -1) : short
}

export function serviceIdOf(fullName: string): string {
  return md5(fullName)
}

export function planIdOf(fullName: string, planName: string): string {
  return md5(`${fullName}-${planName}`)
}

/** An identifier and nothing more: no security rests on it. */
function md5(text: string): string {
  return createHash('md5').update(text).digest('hex')
}
