import type { Mutation } from './mutation.ts'

const pattern = { suite: ['src/catalog/pattern.test.ts'], file: 'src/catalog/pattern.ts' }
const schema = { suite: ['src/catalog/compile-schema.test.ts'], file: 'src/catalog/compile-schema.ts' }

/** The bounds of what strangers may make a broker do at once. */
export const boundMutations: readonly Mutation[] = [
  {
    ...pattern,
    name: 'patterns may work without end',
    find: 'if (left < 0) throw new PatternError(problem)',
    replace: '',
  },
  {
    ...pattern,
    name: 'what one pattern took is forgotten before the next',
    find: 'if (allowance !== undefined) allowance.steps = left',
    replace: '',
  },
  {
    ...pattern,
    name: 'a pattern is compiled whatever its size',
    find: 'if (size > mostParts)',
    replace: 'if (size > mostSteps)',
  },
  {
    ...schema,
    name: 'the url format takes quadratic time',
    only: 'url',
    find: 'spend(text.length ** 2, ',
    replace: 'spend(text.length, ',
  },
  {
    ...schema,
    name: 'all mistakes are told, however many',
    only: 'mistakes',
    find: 'if (hasMoreThan(mostValues, data)) return isFine.errors ?? []',
    replace: '',
  },
  {
    name: 'a number that is too large passes',
    file: 'src/http/read-body.ts',
    suite: ['test/bad-input/body.test.ts'],
    only: 'too large is refused',
    find: 'if (hasInfinity(body))',
    replace: 'if (hasInfinity({ body: null }))',
  },
]
