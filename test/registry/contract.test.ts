import { describe, it } from 'vitest'
import { registryContract } from '../../src/testing/registry-contract.ts'
import {
  createDirectorySubject,
  createDockerHubSubject,
  createHelmSubject,
  createHttpSubject,
  createOciSubject,
  createQuaySubject,
} from './contract-subjects.ts'

describe.each([
  ['directory', async () => createDirectorySubject()],
  ['oci', createOciSubject],
  ['dockerhub', createDockerHubSubject],
  ['quay', createQuaySubject],
  ['http', createHttpSubject],
  ['helm', createHelmSubject],
])('registry contract: %s', (_, create) => {
  it.each(registryContract)('$name', async ({ needs, run }) => {
    const subject = await create()
    try {
      if (needs === undefined || subject[needs] !== undefined) await run(subject)
    } finally {
      await subject.destroy()
    }
  })
})
