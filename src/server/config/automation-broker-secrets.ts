import { getIn, isTree, setIn, type Tree } from './tree.ts'

/**
 * The Automation Broker's `secrets: [{ title, apb_name, secret }]` are entries of `bundles.secrets`. A list with anything else
 * in it is left where it is, and reported as a setting that nobody knows.
 */
export function moveSecrets(tree: Tree): void {
  const { secrets } = tree
  if (!Array.isArray(secrets) || !secrets.every(isEntry)) return
  delete tree.secrets
  const present = getIn(tree, ['bundles', 'secrets'])
  const moved = secrets.map(({ apbName, secret }) => ({ bundle: apbName, secret }))
  setIn(tree, ['bundles', 'secrets'], [...(Array.isArray(present) ? present : []), ...moved])
}

function isEntry(value: unknown): value is { readonly apbName: string; readonly secret: string } {
  return (
    isTree(value) &&
    typeof value.apbName === 'string' &&
    typeof value.secret === 'string' &&
    Object.keys(value).every(key => ['title', 'apbName', 'secret'].includes(key))
  )
}
