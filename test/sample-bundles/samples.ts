import { join } from 'node:path'

export function bundleFolder(name: string): string {
  return join(import.meta.dirname, '..', '..', 'bundles', name)
}
