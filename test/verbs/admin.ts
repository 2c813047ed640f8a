import { type AdminClient, createAdminClient } from '../../src/client/index.ts'
import type { TestBroker } from '../../src/testing/test-broker.ts'

/** The operators' API of a broker that lets everybody in. */
export function adminOf({ url, fetch }: Pick<TestBroker, 'url' | 'fetch'>): AdminClient {
  return createAdminClient({ url, fetch: (input, init) => fetch(new Request(input, init)) })
}
