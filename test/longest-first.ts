import { relative } from 'node:path'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** What takes longest, the longest first: begun last, it would be waited for alone. */
const longest = [
  'test/kubernetes/contract',
  'test/kubernetes/chart',
  'test/kubernetes/broker-faults',
  'test/storm/storm',
  'test/model/crash-every-call',
  'test/storm/guards',
  'test/sandbox/container-docker',
  'test/sandbox/container-podman',
  'test/simulation/',
  'test/sandbox/container-crash',
  'test/marketplace/',
  'test/replicas/',
  'test/crash/',
  'test/model/',
  'test/store/mongodb',
  'test/store/postgres',
  'test/samples/',
  'test/e2e/',
  'test/store/',
]

export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rankOf = ({ moduleId }: TestSpecification) => {
      const path = relative(this.ctx.config.root, moduleId)
      const rank = longest.findIndex(prefix => path.startsWith(prefix))
      return rank === -1 ? longest.length : rank
    }
    return (await super.sort(files)).toSorted((one, other) => rankOf(one) - rankOf(other))
  }
}
