import type { Mutation } from './mutation.ts'

const elsewhere = ['test/registry/elsewhere.test.ts']
const authorRoutes = ['test/http/author-routes.test.ts']

/** The edges of HTTP: what strangers may ask for, and how much of it. */
export const webMutations: readonly Mutation[] = [
  {
    file: 'src/registry/oci/oci-client.ts',
    suite: elsewhere,
    name: 'anybody can ask for the credentials of a registry',
    find: ' && reply.url.origin === base.origin',
    replace: '',
    only: 'by its own challenge',
  },
  {
    file: 'src/registry/oci/oci-client.ts',
    suite: elsewhere,
    name: 'any token service gets the credentials of a registry',
    find: 'if (username !== undefined && !isOurs)',
    replace: 'if (username !== undefined && isOurs === undefined)',
    only: 'to a token service of its own site',
  },
  {
    file: 'src/registry/web/send.ts',
    suite: elsewhere,
    name: 'a registry redirects to private addresses',
    find: 'if (mustBePublic) checkPublic(url)',
    replace: '',
    only: 'does not lead to',
  },
  {
    file: 'src/registry/web/send.ts',
    suite: elsewhere,
    name: 'a registry redirects to names of private addresses',
    find: 'mustBePublic ? lookupPublic : undefined',
    replace: 'mustBePublic ? undefined : undefined',
    only: 'does not lead to',
  },
  {
    file: 'src/http/app.ts',
    suite: ['test/http/admission.test.ts'],
    name: 'strangers take the places of platforms',
    find: 'open === undefined ? admission : openAdmission',
    replace: 'admission',
    only: 'without credentials',
  },
  {
    file: 'src/http/node/request.ts',
    suite: authorRoutes,
    name: 'a body that comes in pieces has no limit',
    find: 'if (size > limit) throw tooLarge(limit)\n      yield',
    replace: 'yield',
  },
]
