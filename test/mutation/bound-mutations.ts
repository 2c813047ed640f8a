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
    find: 'if (countValues(data, mostTold) > mostTold) return isFine.errors ?? []',
    replace: '',
  },
  {
    ...schema,
    name: 'all mistakes are told, however long the schema',
    only: 'mistakes',
    find: 'Math.min(mostValues, mostMistakes / countValues(body, mostMistakes))',
    replace: 'mostValues',
  },
  {
    file: 'src/catalog/parameters.ts',
    suite: ['src/catalog/parameters.test.ts'],
    name: 'parameters may hold any number of values',
    find: 'if (budget.left < 0)',
    replace: 'if (budget.left === -Infinity)',
  },
  {
    file: 'src/shape/told.ts',
    suite: ['src/shape/told.test.ts'],
    name: 'all mistakes of a text are made',
    find: 'if (++counts[severity] > most) return',
    replace: 'counts[severity] += 1',
  },
  {
    file: 'src/shape/yaml.ts',
    suite: ['test/bundle-spec/bad-input.test.ts'],
    name: 'a text that is no YAML is read to its end',
    only: 'no YAML',
    find: "if (token.type === 'error' && ++errors >= maxFaults) break",
    replace: '',
  },
  {
    file: 'src/shape/limits.ts',
    suite: ['test/bundle-spec/bad-input.test.ts'],
    name: 'a text may have any number of mistakes',
    only: 'a megabyte of',
    find: 'if (count > maxValues)\n      throw',
    replace: 'if (count < 0)\n      throw',
  },
  {
    file: 'src/broker/registries/read-reply.ts',
    suite: ['test/sync/sync.test.ts'],
    name: 'all mistakes of a spec are stored',
    only: 'twenty',
    find: 'mistakes.slice(0, mostTold)',
    replace: 'mistakes',
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
