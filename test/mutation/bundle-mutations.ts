import type { Mutation } from './mutation.ts'

const durable = { suite: ['test/driver/durable.test.ts'] }
const outcomes = { suite: ['test/driver/outcomes.test.ts'] }
const swept = {
  suite: ['test/driver/unused-sandboxes.test.ts'],
  file: 'src/broker/registries/remove-unused-sandboxes.ts',
}
const attempt = { ...durable, file: 'src/driver/bundle/attempt.ts' }
const run = { ...durable, file: 'src/driver/bundle/run-bundle.ts' }
const hidden = { suite: ['test/sandbox/hidden.test.ts'] }
const processes = { suite: ['test/sandbox/process.test.ts'] }

/** The guards of bundles: a sandbox is known before it starts, runs once, ends before the next, and tells no secret. */
export const bundleMutations: readonly Mutation[] = [
  {
    ...hidden,
    file: 'src/sandbox/process/process-runtime.ts',
    name: "bundles that run as the broker's user see its files",
    find: '[root, ...(options.hidden ?? [])]',
    replace: '[]',
  },
  {
    ...hidden,
    file: 'src/sandbox/process/process-runtime.ts',
    name: "bundles run as the broker's user where nothing can be hidden from them",
    find: 'if (user === undefined && !containment.hides && !exposeFiles)',
    replace: 'if (Number.isNaN(user))',
  },
  {
    ...hidden,
    file: 'src/sandbox/process/view.ts',
    name: 'what is hidden can be reached through the old working folder',
    find: '`cd ',
    replace: '`: ',
  },
  {
    ...hidden,
    file: 'src/sandbox/process/view.ts',
    name: 'a bundle can write to the copy that others are made from',
    find: 'remount,bind,ro,nosuid,nodev',
    replace: 'remount,bind,nosuid,nodev',
  },
  {
    ...hidden,
    file: 'src/sandbox/process/view.ts',
    name: 'without a network the sockets of the machine can be reached',
    find: "network === 'none' ? socketFolders : []",
    replace: '[]',
  },
  {
    ...hidden,
    file: 'src/sandbox/process/containment.ts',
    name: 'a bundle is root in its namespace and may change its view',
    find: "['unshare', '--user', `",
    replace: `['sh', '-c', 'shift 2; exec "$@"', \``,
  },
  {
    name: 'a password in the name of an image is shown',
    file: 'src/cli/bundle/image-name.ts',
    find: "what: text.includes('@') ? 'an image cannot have an @ in its name' : ",
    replace: 'what: ',
    suite: ['src/cli/bundle/image-name.test.ts'],
  },
  {
    name: 'a test with a failed result has passed',
    file: 'src/cli/bundle/test-results.ts',
    find: 'passed: !results.some(({ fail }) => fail)',
    replace: 'passed: results.length >= 0',
    suite: ['src/cli/bundle/test-results.test.ts'],
  },
  {
    name: 'a copy of a bundle that something has written to is run',
    file: 'src/running/bundles/folders.ts',
    find: 'found => found.digest === digest',
    replace: '() => true',
    suite: ['test/running/bundles/folders.test.ts'],
  },
  {
    ...processes,
    file: 'src/sandbox/inputs.ts',
    name: 'the state stands in the environment, which a container engine shows',
    find: '      ...inputs.env,',
    replace: '      ...inputs.env,\n      ...named,',
  },
  {
    name: 'an engine that stumbles over an end is not asked again',
    file: 'src/sandbox/container/containers.ts',
    find: 'answer.status !== 500 || number === looks',
    replace: 'true',
    suite: ['test/sandbox/container-engine.test.ts'],
  },
  {
    name: 'a container that cannot be stopped because it has ended is a fault',
    file: 'src/sandbox/container/containers.ts',
    find: "if ((await inspect(engine, id, clock))?.state === 'running') throw failure",
    replace: 'throw failure',
    suite: ['test/sandbox/container-engine.test.ts'],
  },
  {
    ...attempt,
    name: 'a sandbox starts before the ledger knows of it',
    find: 'if (before?.name !== name) await ctx.saveState({ sandbox: { ...placed } })',
    replace: '',
  },
  {
    ...attempt,
    name: 'a sandbox is started however late',
    find: 'if (parts.storeNow() > sandbox.until - graceMs - limits.time) {',
    replace: 'if (Number.isNaN(sandbox.until)) {',
  },
  {
    ...attempt,
    name: 'a sandbox on another machine is not waited for',
    hangs: true,
    find: 'if (left <= 0) return undefined',
    replace: 'if (left <= Number.MAX_VALUE) return undefined',
  },
  {
    ...attempt,
    name: 'what another machine has fetched is taken for fetched here',
    find: 'if ((where ?? undefined) === host) return',
    replace: 'if (where !== null) return',
  },
  {
    ...attempt,
    name: 'what a runtime says of itself reaches the platform',
    file: 'src/driver/bundle/ask-runtime.ts',
    find: 'throw new PassingError(unavailable, { cause: error })',
    replace: 'throw new PassingError(error.message, { cause: error })',
  },
  {
    ...durable,
    file: 'src/driver/bundle/pick-runtime.ts',
    name: 'a sandbox that only its host reaches is looked for on another one',
    hangs: true,
    find: "(reach === 'anywhere' || place.host === host)",
    replace: "(reach === 'anywhere' || host !== '')",
  },
  {
    ...attempt,
    name: 'a sandbox on another machine is waited for after its end',
    find: 'sandbox.ended === undefined ? sandbox.until - parts.storeNow() : 0',
    replace: 'sandbox.until - parts.storeNow()',
  },
  {
    ...run,
    name: 'what an earlier operation left runs on',
    find: 'if (runtime !== undefined) await ctx.step(step, () => askRuntime(() => runtime.remove(sandbox.name)), callSettings)',
    replace: 'if (runtime !== undefined) continue',
  },
  {
    ...run,
    name: 'a bind runs beside what an update left',
    find: `['remove leftover of the instance', beside?.ended === undefined ? beside : undefined],`,
    replace: '',
  },
  {
    ...outcomes,
    file: 'src/driver/bundle/state.ts',
    name: 'the state of a bundle has no limit',
    find: 'if (bytes > maxBytes)',
    replace: 'if (Number.isNaN(bytes))',
  },
  {
    ...outcomes,
    file: 'src/domain/settle-binding.ts',
    name: 'of parallel binds the last one wins',
    find: 'state: mergePatch(instance.state, patch)',
    replace: 'state: patch',
  },
  {
    suite: ['test/driver/redaction.test.ts'],
    file: 'src/driver/bundle/attempt.ts',
    name: 'credentials that a run made stay in its log',
    find: '[...task.secrets, ...made]',
    replace: 'task.secrets',
  },
  {
    suite: ['test/driver/redaction.test.ts'],
    file: 'src/driver/bundle/bundle-driver.ts',
    name: 'sensitive parameters are shown',
    find: '{ ...body, parameters: omitNamed(body.parameters, names) }',
    replace: 'body',
  },

  // The sweep of sandboxes takes what nobody needs, and nothing else.
  {
    ...swept,
    name: 'the sandboxes of another broker are swept',
    find: 'labels[sandboxLabels.broker] !== options.brokerLabel || id === undefined',
    replace: 'id === undefined',
  },
  {
    ...swept,
    name: 'young sandboxes are swept',
    find: 'if (clock.now() - createdAt < graceMs) return true',
    replace: '',
  },
  {
    ...swept,
    name: 'sandboxes of active operations are swept',
    find: 'return isActive(operation) || (kept',
    replace: 'return (kept',
  },
  {
    ...swept,
    name: 'a sandbox that failed is kept for ever',
    find: '&& resource.lastOperationId === id',
    replace: '',
  },

  // Processes: one run of a name, and its end with it.
  {
    ...processes,
    file: 'src/sandbox/process/supervisor.ts',
    name: 'two supervisors run one sandbox',
    find: 'if (!claimFolder(folder, socket)) {',
    replace: 'if (!claimFolder(folder, socket) && socket === undefined) {',
    only: 'many times at once',
  },
  {
    ...processes,
    file: 'src/sandbox/process/process-runtime.ts',
    name: 'a removed name can be started',
    find: 'if (owner === removed) throw wasRemoved(spec.name)',
    replace: 'if (owner === removed) return { attached: false }',
    only: 'cannot be started again',
  },
  {
    ...processes,
    file: 'src/sandbox/process/supervisor.ts',
    name: 'a process may print without end',
    find: 'if (limits.output !== undefined && printed > limits.output)',
    replace: 'if (printed === undefined)',
    only: 'prints a gigabyte',
  },
  {
    ...processes,
    file: 'src/sensitive/redact.ts',
    name: 'secrets stay in what people read',
    find: 'findParts(bytes, parts)',
    replace: 'findParts(bytes, parts.slice(parts.length))',
    only: 'secrets are cut out',
  },
]
