export type BundleAction = 'provision' | 'update' | 'deprovision' | 'bind' | 'unbind'
export const bundleActions: readonly BundleAction[] = ['provision', 'update', 'deprovision', 'bind', 'unbind']

export function forEachAction<Value>(make: (action: BundleAction) => Value): Record<BundleAction, Value> {
  return Object.fromEntries(bundleActions.map(action => [action, make(action)])) as Record<BundleAction, Value>
}
