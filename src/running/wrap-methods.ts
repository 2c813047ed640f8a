/** As many values as a method of ours has: a list of them would cost each poll something. */
type Method = (one?: unknown, two?: unknown, three?: unknown, four?: unknown) => unknown

/** The same object with other methods: where `wrap` gives none, the method is as it was. It may be of a class of somebody else. */
export function wrapMethods<Target extends object>(
  target: Target,
  wrap: (name: string, method: Method) => Method | undefined,
): Target {
  const wrapped: Record<string, unknown> = {}
  for (const name of keysOf(target)) {
    const value: unknown = target[name as keyof Target]
    if (typeof value !== 'function') wrapped[name] = value
    else {
      // Looked up at each call: somebody may put another in its place.
      const method: Method = (one, two, three, four) =>
        (target[name as keyof Target] as Method).call(target, one, two, three, four)
      wrapped[name] = wrap(name, method) ?? method
    }
  }
  return wrapped as Target
}

function keysOf(target: object | null): readonly string[] {
  if (target === null || target === Object.prototype) return []
  const own = Object.getOwnPropertyNames(target).filter(name => name !== 'constructor')
  return [...new Set([...own, ...keysOf(Object.getPrototypeOf(target))])]
}
