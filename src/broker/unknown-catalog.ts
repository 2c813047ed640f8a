import type { BrokerContext } from './context.ts'

/**
 * Why there is no catalog yet, or undefined. Nothing known is not "nothing": a platform that reads an empty catalog takes
 * its plans away. As soon as anything has come from a registry, one that does not answer keeps nobody from the rest.
 */
export function whyUnknown({
  services,
  registered,
}: Pick<BrokerContext, 'services' | 'registered'>): string | undefined {
  if (registered === undefined || services.own.length > 0 || !registered.isEmpty) return undefined
  const { unanswered } = registered
  if (unanswered.length === 0) return undefined
  return `the catalog is not known yet: no answer so far from ${unanswered.join(', ')}`
}
