/** `purser/registry`: to write a type of registry. `registryContract` of `purser/testing` is the meaning of the contract. */
export type { FoundBundle } from '../domain/revision.ts'
export type { FoundImages, PullCredentials, Registry, RegistryAnswer } from '../registry.ts'
export { answerOrFailure, type BundleReading, readEach, toAnswer } from './answer.ts'
export { createFilter, type Filter, type Lists } from './filter.ts'
export { type HashedFolder, hashFolder } from './hash-folder.ts'
export { digestOf } from './oci/digest.ts'
export { RegistryError } from './registry-error.ts'
