import type { Mutation } from './mutation.ts'

const rules = { suite: ['test/domain/reconcile.test.ts', 'test/domain/reconcile-corner-cases.test.ts'] }
const decision = { ...rules, file: 'src/domain/decide-service.ts' }
const reply = { ...rules, file: 'src/domain/registry-reply.ts' }
const state = { ...rules, file: 'src/domain/catalog-state.ts' }
const sync = { suite: ['test/sync/corner-cases.test.ts'] }
const pushed = { suite: ['test/sync/pushed.test.ts'], file: 'src/broker/registries/pushed.ts' }
const provision = { ...rules, file: 'src/domain/provisionability.ts' }
const kept = { file: 'src/broker/registries/keep-pinned.ts', suite: ['test/sync/keep-pinned.test.ts'] }
const names = { file: 'src/sandbox/container/keep-images.ts', suite: ['test/sandbox/keep-images.test.ts'] }

/** The guards of reconciliation: what may be retired, what may be deleted, who wins a name. */
export const reconcileMutations: readonly Mutation[] = [
  // What is pushed to the broker itself.
  {
    ...pushed,
    name: 'a pushed spec may name a folder of the machine',
    find: '!imageName.test(image)',
    replace: "image === ''",
  },
  {
    ...pushed,
    name: 'a pushed spec that cannot be used is answered as if it were offered',
    find: 'if (reply !== undefined) check?.(reply)',
    replace: '',
    file: 'src/broker/registries/sync.ts',
  },
  {
    ...pushed,
    name: 'a sync takes what was pushed out of the catalog',
    find: 'const names = [...registries.map(({ name }) => name), ...unasked]',
    replace: 'const names = registries.map(({ name }) => name)',
    file: 'src/broker/registries/sync.ts',
  },
  {
    ...pushed,
    name: 'the last pushed spec that is removed stays for some syncs',
    find: 'emptyAfter: 1',
    replace: 'emptyAfter: 3',
  },
  {
    ...pushed,
    name: 'whoever is a platform may push specs',
    find: "checkRole(principal, 'operator')",
    replace: '',
    file: 'src/http/admin/apb-app.ts',
  },
  {
    ...pushed,
    name: 'a bootstrap that waits takes the place of a request',
    find: 'exchange.visit?.leave(context.broker.clock.now())',
    replace: '',
    file: 'src/http/admin/apb-app.ts',
  },
  {
    ...pushed,
    name: 'specs can be pushed to a broker that does not allow it',
    hangs: true,
    find: 'apb: settings.osb.apbRoutes ? registries?.createApb(broker) : undefined',
    replace: 'apb: registries?.createApb(broker)',
    file: 'src/running/start-broker.ts',
  },
  {
    ...pushed,
    name: 'a bootstrap takes the end of an earlier sync for its own',
    find: ' && sync.latest?.dueAt !== early) return',
    replace: ') return',
    file: 'src/broker/registries/sync-and-wait.ts',
  },
  // Retirement: no answer never means gone.
  {
    ...decision,
    name: 'reconcile retires by a partial answer',
    find: `if (source.reply?.kind !== 'complete') return undefined`,
    replace: `if (source.reply === undefined) return undefined`,
  },
  {
    ...decision,
    name: 'reconcile retires what a registry that was not asked did not list',
    find: `if (source.reply?.kind !== 'complete') return undefined`,
    replace: `if (source.reply?.kind === 'partial') return undefined`,
  },
  {
    ...decision,
    name: 'reconcile retires used specs of a failing registry',
    find: 'return isUsed ? undefined : source.lapse',
    replace: 'return source.lapse',
  },
  {
    ...decision,
    name: 'reconcile retires with the first failure',
    find: 'return isUsed ? undefined : source.lapse',
    replace: `return isUsed ? undefined : 'failures'`,
  },
  {
    ...decision,
    name: 'reconcile keeps what nobody configures any more',
    find: `if (source === undefined) return 'unconfigured'`,
    replace: 'if (source === undefined) return undefined',
  },
  {
    ...decision,
    name: 'reconcile retires a spec that cannot be read any more',
    find: 'current !== undefined && source.unusable.has(current.foundAs) ? undefined : ',
    replace: '',
  },
  {
    ...decision,
    name: 'reconcile believes a registry that is suddenly empty',
    find: '  if (source.isDoubted) return undefined\n',
    replace: '',
  },
  {
    ...reply,
    name: 'reconcile counts one empty answer twice',
    find: 'emptyAnswers + (counted ? 0 : 1)',
    replace: 'emptyAnswers + 1',
  },
  {
    ...sync,
    name: 'a registry that was asked counts as one that answered',
    file: 'src/broker/registries/registered-catalog.ts',
    find: 'state.lastAnswerAt === undefined ? [] : state.name',
    replace: 'state.name',
  },
  // Collisions: the order of the configuration, and never by who was faster.
  {
    ...decision,
    name: 'reconcile gives a name to whoever answers',
    find: 'own.order < best.source.order || ',
    replace: '',
  },
  {
    ...decision,
    name: 'reconcile ignores the order of the configuration',
    find: '    a.source.order - b.source.order ||\n',
    replace: '',
  },
  {
    ...decision,
    name: 'reconcile lets two bundles of one name take turns',
    find: ' || (own === best.source && !isSuccessor(best, current))',
    replace: '',
  },
  {
    ...decision,
    name: 'reconcile does not prefer the current bundle',
    find: '    Number(isSuccessor(b, current)) - Number(isSuccessor(a, current)) ||\n',
    replace: '',
  },
  // Failures and silence.
  {
    ...reply,
    name: 'reconcile counts one failure twice',
    find: '(previous?.failures ?? 0) + (counted ? 0 : 1)',
    replace: '(previous?.failures ?? 0) + 1',
  },
  {
    ...reply,
    name: 'reconcile takes a pause of the broker for silence of the registry',
    find: 'lastAnswerAt !== undefined && now - lastAnswerAt < settings.retireAfter',
    replace: 'lastAnswerAt !== undefined',
  },
  {
    ...reply,
    name: 'reconcile never counts silence',
    find: 'previous?.silentSince ?? silenceStart(previous?.lastAnswerAt, now, settings)',
    replace: 'now',
  },
  // Deletion: never what an instance needs.
  {
    ...state,
    name: 'the purge deletes used revisions',
    find: '!current.has(id) && !isUsed(id, uses)',
    replace: '!current.has(id)',
  },
  {
    ...state,
    name: 'the purge deletes used services',
    find: ' && !used.has(service.serviceId)',
    replace: '',
  },
  {
    ...state,
    name: 'the purge deletes current revisions',
    find: '!current.has(id) && !isUsed(id, uses)',
    replace: '!isUsed(id, uses)',
  },
  {
    ...state,
    name: 'the catalog offers retired services',
    find: 'services.filter(service => service.retiredAt === undefined)',
    replace: 'services',
  },
  // Provision.
  {
    ...provision,
    name: 'a provision before the first sync does not wait',
    find: `  if (!synced) return { kind: 'wait' }\n`,
    replace: '',
  },
  {
    ...provision,
    name: 'a retired service is provisioned whatever the setting says',
    find: `(service.retiredAt === undefined || retiredPlans === 'accept')`,
    replace: 'true',
  },
  // Flaws and losses: what is told, and what is never taken for gone.
  {
    file: 'src/domain/version-warning.ts',
    suite: ['test/sync/warnings.test.ts'],
    name: 'a content under the same version goes by in silence',
    find: 'if (difference > 0) return undefined',
    replace: 'if (difference >= 0) return undefined',
  },
  {
    file: 'src/domain/pinned-images.ts',
    suite: ['test/sync/vanished.test.ts'],
    name: 'a sync asks about every pinned image at once',
    find: 'return turned.slice(0, most)',
    replace: 'return most > 0 ? turned : []',
  },
  // Kept images: nothing is let go of that may be needed, and one that fails is one.
  {
    ...kept,
    file: 'src/domain/pinned-images.ts',
    name: 'images are let go of while the catalog is behind',
    find: 'if ([...uses.keys()].some(id => !known.has(id))) return undefined',
    replace: 'if (known.size < 0) return undefined',
  },
  {
    ...kept,
    name: 'images whose credentials cannot be read are let go of',
    find: 'programs.push(await imageOf(revision).catch(error => withoutCredentials(revision.image, error)))',
    replace:
      'await imageOf(revision).then(one => programs.push(one), error => withoutCredentials(revision.image, error))',
  },
  {
    ...kept,
    name: 'an image that cannot be kept is told about every minute',
    find: 'if (!told.has(image)) ',
    replace: '',
  },
  {
    ...kept,
    name: 'images are kept although the setting is off',
    file: 'src/running/bundles/open.ts',
    suite: ['test/running/bundles/keep-pinned.test.ts'],
    find: 'bundles.keepPinned ? keepOn(runtimes, brokerLabel) : undefined',
    replace: 'keepOn(runtimes, brokerLabel)',
  },
  {
    ...names,
    name: 'names of images that another broker keeps are removed',
    find: 'names.filter(name => name',
    replace: `names.filter(name => name.startsWith('localhost/purser-kept/') || name`,
  },
  {
    ...names,
    name: 'names of images that instances need are removed',
    find: 'filter(name => !needed.has(name))',
    replace: 'filter(name => needed.size >= 0 || !needed.has(name))',
  },
  {
    ...names,
    name: 'an image that cannot be kept keeps the runtime from the others',
    find: 'notKept.push({ image, error })',
    replace: 'throw error',
  },
  {
    ...names,
    name: 'kept images have no name that protects them',
    find: 'if (!names.has(nameOf(program))) await',
    replace: 'if (names.size < 0) await',
  },
  {
    ...names,
    name: 'kept images are all pulled at once',
    find: 'const pullsAtOnce = 2',
    replace: 'const pullsAtOnce = 99',
  },
  {
    file: 'src/registry/oci/find-images.ts',
    suite: ['test/registry/oci.test.ts'],
    name: 'any 404 is taken for an image that is gone',
    find: 'else if (status === 404 && isUnknown(await client.get(url, options))) gone.push(image)',
    replace: 'else if (status === 404 && (await client.get(url, options))) gone.push(image)',
  },
  {
    file: 'src/bundle/names.ts',
    suite: ['src/bundle/names.test.ts'],
    name: 'the end of a long name, which tells variants apart, is cut off',
    find: 'if (variant !== undefined && letters.length > longest)',
    replace: 'if (variant !== undefined && letters.length > 999)',
  },
  {
    file: 'src/bundle/to-schema.ts',
    suite: ['test/bundle-spec/lenient.test.ts'],
    name: 'a default that breaks a rule switches the rule off for users',
    find: '{ anyOf: [{ enum: [parameter.exempt] }, rules] }',
    replace: '{ anyOf: [{ enum: [parameter.exempt] }, {}] }',
  },
]
