export type BundleAction = 'provision' | 'update' | 'deprovision' | 'bind' | 'unbind'
/** What an author runs besides, to see whether a bundle works. A broker never does. */
export type AuthorAction = BundleAction | 'test'
export const bundleActions: readonly BundleAction[] = ['provision', 'update', 'deprovision', 'bind', 'unbind']

export function forEachAction<Value>(make: (action: BundleAction) => Value): Record<BundleAction, Value> {
  return Object.fromEntries(bundleActions.map(action => [action, make(action)])) as Record<BundleAction, Value>
}
