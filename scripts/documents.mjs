/** The tests that are about what is written, here and in the documents: part of `npm run check`. */
export const documents = ['test/architecture.test.ts', 'test/docs/**', 'test/conformance/coverage.test.ts']
