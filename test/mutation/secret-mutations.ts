import type { Mutation } from './mutation.ts'

const canary = { suite: ['test/secrets/canary.test.ts'], only: 'a canary: memory' } as const
const isolation = { suite: ['test/routes/isolation.test.ts'] } as const

/** What keeps secrets out of texts, and platforms apart. */
export const secretMutations: readonly Mutation[] = [
  {
    ...canary,
    file: 'src/engine/run-secrets.ts',
    name: 'what the code of a run has made sensitive is in its texts',
    find: '    for (const secret of secretsIn(made.reveal())) this.#made.add(secret)\n',
    replace: '    if (made === undefined) this.#made.clear()\n',
  },
  {
    ...canary,
    file: 'src/engine/run-secrets.ts',
    name: 'what is marked in a state, or in the output of a step, is in the texts of a later run',
    find: '...kept().flatMap(markedIn)',
    replace: '...kept().flatMap(() => [])',
  },
  {
    ...canary,
    file: 'src/broker/find-work.ts',
    name: 'parameters that their schema marks are in the texts of a run',
    find: 'parameters: [instance.parameters, operation.input.parameters]',
    replace: 'parameters: []',
  },
  {
    ...canary,
    file: 'src/broker/service-secrets.ts',
    name: 'credentials of a binding are in the texts of a run',
    find: ', binding?.result.credentials]',
    replace: ']',
  },
  {
    ...canary,
    file: 'src/engine/run.ts',
    name: 'the error of a step is told as it is',
    find: 'this.hide.error(asError(thrown, `the step "${name}"`))',
    replace: 'asError(thrown, `the step "${name}"`)',
  },
  {
    ...canary,
    file: 'src/engine/run-operation.ts',
    name: 'the error of an action is told as it is',
    find: 'run.hide.error(asError(thrown, `the ${action}`))',
    replace: 'asError(thrown, `the ${action}`)',
  },
  {
    ...canary,
    file: 'src/engine/run.ts',
    name: 'what an action describes is shown as it is',
    find: 'this.description = this.hide.text(description)',
    replace: 'this.description = description',
  },
  {
    ...canary,
    file: 'src/engine/run.ts',
    name: 'what an action logs is written as it is',
    find: '{ message: this.hide.text(String(message)), fields: this.hide.fields(fields) }',
    replace: '{ message, fields }',
  },
  {
    ...canary,
    file: 'src/engine/run-link.ts',
    name: 'a rejection that nobody handles is told as it is',
    find: 'this.#hide.error(asError(thrown, who))',
    replace: 'asError(thrown, who)',
  },
  {
    ...canary,
    file: 'src/broker/find-work.ts',
    name: 'the error of a hook is told as it is',
    find: 'run.hide.error(toError(thrown))',
    replace: 'toError(thrown)',
  },
  {
    ...canary,
    file: 'src/broker/service-secrets.ts',
    name: 'what an author throws outside of a run is told as it is',
    find: 'error instanceof Error ? redactError(',
    replace: 'error instanceof String ? redactError(',
  },
  {
    ...canary,
    file: 'src/broker/service-secrets.ts',
    name: 'a parameter that is marked as secret can be read back',
    find: 'if (names.size === 0) return parameters',
    replace: 'if (names.size >= 0) return parameters',
  },
  {
    ...canary,
    file: 'src/broker/moving/sealed-rows.ts',
    name: 'an export without secrets tells who asked',
    find: '  const hidden = hiddenOf(kind)\n  return {',
    replace: '  const hidden = secret[kind] ?? []\n  return {',
  },
  {
    suite: ['src/sensitive/sensitive.test.ts'],
    file: 'src/sensitive/marked.ts',
    name: 'a sensitive value is kept as its cover',
    find: 'if (!(given instanceof Sensitive)) return value',
    replace: 'if (given !== undefined) return value',
  },
  {
    suite: ['test/server/config.test.ts'],
    file: 'src/server/config.ts',
    name: 'the URL of the store is shown with the configuration',
    find: 'store: sensitive(resolveStoreUrl(store.reveal(), cwd))',
    replace: 'store: { reveal: () => resolveStoreUrl(store.reveal(), cwd), url: store.reveal() } as never',
    only: 'shows no secret of it',
  },
  {
    ...isolation,
    file: 'src/broker/find-plan.ts',
    name: 'a plan that left the catalog tells of the instance of another platform',
    find: 'if (!isCallers || instance.serviceId',
    replace: 'if (instance?.serviceId',
  },
  {
    ...isolation,
    file: 'src/domain/instance.ts',
    name: 'an instance of another platform is known',
    find: "instance.phase !== 'deleted' && instance.platform === platform",
    replace: "instance.phase !== 'deleted' && platform !== undefined",
  },
]
