import { signatureAlgorithms } from '../authenticator/algorithms.ts'
import { hasControls, readPasswordHash } from '../authenticator/password.ts'
import { duration, file, flag, oneOf, secretText, text } from '../shape/fields.ts'
import { fallback, list, object, optional, type Rule, section, unique } from '../shape/shape.ts'
import { exactlyOne } from './rules.ts'

const roleNames = ['platform', 'viewer', 'operator', 'admin'] as const

const platformField = fallback(
  text({
    rule: 'letters, digits, dots, dashes and underscores',
    allows: /^[\w.-]+$/,
    doc: 'the platform that these credentials stand for; instances remember it',
  }),
  'default',
)

/** What credentials stand for. */
const standsFor = {
  platform: platformField,
  roles: fallback(
    list(oneOf(roleNames), {
      rule: 'a list of platform, viewer, operator, admin',
      rules: [roles => roles.length === 0 && { error: 'allowed: at least one of platform, viewer, operator, admin' }],
      doc: "`platform` may use the OSB API; `viewer` may look at the operators' API (`/admin`), `operator` may also run and end things there, and `admin` may also abandon and adopt instances and move them to other revisions",
    }),
    ['platform'],
  ),
}

const passwordHash = (doc: string) =>
  secretText({
    rule: 'a hash made with "purser hash-password" (scrypt$N$r$p$salt$hash)',
    allows: hash => typeof readPasswordHash(hash) !== 'string',
    doc,
  })

const user = object(
  {
    username: text({
      rule: 'a text without a colon and control characters, in quotes where it is a number',
      allows: name => /^[^:]+$/.test(name) && !hasControls(name),
      doc: 'required, once each',
    }),
    password: optional(
      secretText({
        rule: 'a text without control characters, such as a line end; in quotes where it is a number',
        allows: password => password !== '' && !hasControls(password),
        doc: 'the password itself; better a placeholder, or a hash',
      }),
    ),
    passwordHash: optional(passwordHash('made with `purser hash-password`')),
    previousPasswordHash: optional(passwordHash('is good too, while platforms change to the new password')),
    ...standsFor,
  },
  { rules: [exactlyOne('password', 'passwordHash', '; make a hash with "purser hash-password"')] },
)

const isHttpsUrl = (value: string) => {
  if (!URL.canParse(value)) return false
  const { protocol, hostname, username, hash } = new URL(value)
  const isLocal = hostname === 'localhost' || hostname === '[::1]' || /^127(\.\d+){3}$/.test(hostname)
  return (protocol === 'https:' || (protocol === 'http:' && isLocal)) && username === '' && hash === ''
}

const url = (doc: string) => text({ rule: 'an https URL; http only on this machine', allows: isHttpsUrl, doc })

const claim = (doc: string) => text({ rule: 'the name of a claim; dots lead into objects', doc })

/** How the claims of a token become somebody: for bearer tokens and for OpenID Connect alike. */
const claimFields = {
  name: text({
    rule: 'letters, digits, dots, dashes and underscores',
    allows: /^[\w.-]+$/,
    doc: 'required, once each: who it says somebody is is called `<name>:<claim>` in logs and history',
  }),
  nameClaim: fallback(claim('the claim that names somebody'), 'sub'),
  platform: platformField,
  platformClaim: optional(
    claim('the claim that names the platform, instead of `platform`; without it in a token, that is refused'),
  ),
  roles: fallback(
    list(oneOf(roleNames), {
      rule: 'a list of platform, viewer, operator, admin',
      doc: 'what everybody may whom it vouches for, as for `auth.basic`; whoever has no role is refused',
    }),
    [],
  ),
  rolesClaim: optional(
    claim('the claim with roles, such as `realm_access.roles`: a list, or texts with spaces between them'),
  ),
  roleNames: fallback(
    list(
      object({
        value: text('a value of that claim, such as the name of a group'),
        role: oneOf(roleNames, 'the role that it stands for'),
      }),
      { doc: 'without it, the values are the roles themselves' },
    ),
    [],
  ),
  algorithms: fallback(
    list(oneOf(signatureAlgorithms), {
      rule: `a list of ${signatureAlgorithms.join(', ')}`,
      rules: [given => given.length === 0 && { error: 'allowed: at least one algorithm' }],
      doc: 'how tokens may be signed',
    }),
    ['RS256', 'PS256', 'ES256', 'EdDSA'],
  ),
  clockSkew: fallback(duration('0s', '10m', "how far its clock may be from the broker's"), '30s'),
}

const issuer = object(
  {
    ...claimFields,
    issuer: url('what `iss` has to be'),
    audience: list(text(), {
      rule: 'a list of texts',
      rules: [given => given.length === 0 && { error: 'allowed: at least one audience' }],
      doc: 'one of these has to be in `aud`: tokens for others are refused',
    }),
    keysUrl: optional(url('where its keys are (a JWKS): `jwks_uri` of its OpenID configuration')),
    keysFile: optional(file('the same from a file; one of the two')),
  },
  { rules: [exactlyOne('keysUrl', 'keysFile')] },
)

const certificate = object(
  {
    name: text({
      rule: 'a text without a colon and control characters',
      allows: name => /^[^:]+$/.test(name) && !hasControls(name),
      doc: 'required, once each: what its holder is called in logs and history',
    }),
    subject: optional(text('the whole subject, such as `O=platforms,CN=cf`, in the order of the certificate')),
    san: optional(
      text({
        rule: 'a subject alternative name with its type, such as URI:spiffe://example/cf or DNS:cf.example',
        allows: /^[A-Za-z][\w ]*:./,
        doc: 'one of its subject alternative names, exactly, such as `URI:spiffe://example/cf`',
      }),
    ),
    ...standsFor,
  },
  { rules: [exactlyOne('subject', 'san')] },
)

const oidc = object(
  {
    ...claimFields,
    issuer: url('the provider; its configuration is at `/.well-known/openid-configuration` below it'),
    clientId: text(
      'what the provider knows this broker by; the redirect URI there is `<server.publicUrl>/console/signed-in`',
    ),
    clientSecret: optional(secretText({ doc: 'the secret of a confidential client; better a placeholder' })),
    scopes: fallback(
      list(text({ rule: 'a scope', allows: /^[\x21\x23-\x5b\x5d-\x7e]+$/ }), {
        rule: 'a list of scopes',
        doc: 'what is asked for besides `openid`, such as `profile` or `groups`',
      }),
      [],
    ),
    label: fallback(
      text({ rule: 'a text', doc: 'what the button in the console says' }),
      'Sign in with single sign-on',
    ),
  },
  { rule: 'a map of settings' },
)

const uniqueName = (noun: string) =>
  unique<{ readonly name?: string }>(
    ({ name }) => name,
    'name',
    `it is the name of ${noun} above; give each a name of its own`,
  )

export const auth = section({
  basic: fallback(
    list(user, {
      rules: [unique(user => user.username, 'username', 'it is the name of a user above; give each a name of its own')],
    }),
    [],
  ),
  jwt: fallback(
    list(issuer, {
      rules: [
        uniqueName('an issuer'),
        unique(
          each => each.issuer,
          'issuer',
          'it is the issuer of an entry above; put what both say into one, with all audiences',
        ),
      ],
      doc: 'issuers of bearer tokens, one entry for each',
    }),
    [],
  ),
  certificates: fallback(
    list(certificate, { rules: [uniqueName('a certificate')], doc: 'clients with a certificate of `server.tls.ca`' }),
    [],
  ),
  oidc: optional(oidc),
  reloadEvery: fallback(
    duration(
      '100ms',
      '1d',
      'how often the broker looks whether the configuration file, or a file that `auth` or `server.tls` names, has changed: both are read again then, and nothing else',
    ),
    '5s',
  ),
})

/** What `purser serve` refuses to start with, unless it is meant. */
export const unsafe = section({
  open: fallback(flag('no credentials at all on an address that others can reach'), false),
  knownPasswords: fallback(
    flag('a password that everybody knows, from documents, on an address that others can reach or in production'),
    false,
  ),
  memoryStore: fallback(flag('the store `memory:`, which forgets, with `NODE_ENV=production`'), false),
  readableSecrets: fallback(
    flag(
      'a private key, credentials of a registry, secrets of a bundle, or a configuration file with a secret in it, in a file that every user of the machine can read',
    ),
    false,
  ),
})

interface Given {
  readonly auth?: { readonly certificates?: readonly unknown[]; readonly oidc?: object }
  readonly server?: { readonly publicUrl?: string; readonly tls?: { readonly ca?: string; readonly crl?: string } }
}

export const certificatesNeedCa: Rule<Given> = ({ auth, server }) => {
  if (server?.tls?.ca !== undefined) return undefined
  if (server?.tls?.crl !== undefined)
    return { path: ['server', 'tls', 'crl'], error: 'needs server.tls.ca beside it, whose list it is' }
  const error = 'needs server.tls with cert, key and ca: the broker itself has to see the certificates'
  return (auth?.certificates?.length ?? 0) > 0 && { path: ['auth', 'certificates'], error }
}

export const oidcNeedsPublicUrl: Rule<Given> = ({ auth, server }) =>
  auth?.oidc !== undefined &&
  server?.publicUrl === undefined && {
    path: ['auth', 'oidc'],
    error: 'needs server.publicUrl: the provider sends people back to it',
  }
