import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { whyNot } from './wanted.ts'

/** Why there is no Ansible for these tests; undefined where there is one. BUNDLES names what must be there, as STORES does. */
export function whyNoAnsible(): Promise<string | undefined> {
  return whyNot(
    'ansible',
    async () => {
      await promisify(execFile)('which', ['ansible-playbook']).catch(() => {
        throw new Error('there is no ansible-playbook: install ansible-core')
      })
    },
    'BUNDLES',
  )
}
