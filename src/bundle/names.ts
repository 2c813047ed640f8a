import { createHash } from 'node:crypto'

/** So many that a Kubernetes name made of it, an action and a random end still fits into 63. */
const longest = 51

/**
 * A service's name in the catalog. Names and ids follow the Automation Broker's algorithm to the letter: the instances of
 * a broker that moves here keep their service and their plan. They depend on nothing but the registry's name and the
 * spec's, so that another image, organisation or tag leaves them as they are.
 */
export function fullName(registry: string, name: string): string {
  const whole = `${registry}-${name}`.replaceAll(/[/.:-]/g, '-')
  const short = [...whole].slice(0, longest).join('')
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
