/** `purser/sandbox`: to write a runtime. `sandboxContract` of `purser/testing` is the meaning of the contract. */
export * from '../sandbox.ts'
export { createRedactor } from '../sensitive/redact.ts'
export { secretsIn } from '../sensitive/secrets-in.ts'
export { type InputFile, isStateKey, type Layout, layOut, type Places } from './inputs.ts'
export { collectOutputs, readProgress } from './outputs.ts'
export type { End, ReadEnd } from './read-output-file.ts'
export { tailOf } from './redact.ts'
