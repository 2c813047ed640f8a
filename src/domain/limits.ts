/**
 * How much an author's code may leave in the ledger. Every claim reads an operation with all of its steps, and a document
 * of MongoDB holds 16 MB. Whatever is larger fails the operation with a message that names the limit.
 */
export const limits = {
  /** Bytes of JSON. */
  stateBytes: 1_048_576,
  stepOutputBytes: 1_048_576,
  bindingBytes: 1_048_576,
  /** Characters. Cloud Foundry refuses longer descriptions. */
  descriptionLength: 10_000,
  stepNameLength: 200,
  stepsPerOperation: 10_000,
  /** Of the calls of a step, so many are told apart for operators; the others are only counted. */
  triesPerStep: 20,
} as const
