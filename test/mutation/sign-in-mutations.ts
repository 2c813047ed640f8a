import type { Mutation } from './mutation.ts'

const tokens = { suite: ['test/sign-in/tokens.test.ts'] }
const certificates = { suite: ['test/sign-in/certificates.test.ts'] }
const openId = { file: 'src/authenticator/openid.ts', suite: ['test/sign-in/openid.test.ts'] }
const session = { file: 'src/http/sessions.ts', suite: ['test/console/session.test.ts'] }
const unsafe = { file: 'src/server/refuse-unsafe.ts', suite: ['test/sign-in/unsafe.test.ts'] }
const verify = { ...tokens, file: 'src/authenticator/verify-token.ts' }
const keys = { ...tokens, file: 'src/authenticator/key-set.ts' }
const json = { ...tokens, file: 'src/authenticator/fetch-json.ts', only: 'of a server that' }

/** Tokens, certificates, OpenID Connect, sessions in the ledger, and what is refused at the start. */
export const signInMutations: readonly Mutation[] = [
  { ...verify, name: 'a token may be for anybody', find: '      audience: [...audience],\n', replace: '' },
  { ...verify, name: 'a token needs no end', find: "['exp', 'iss', 'aud']", replace: "['iss', 'aud']" },
  { ...verify, name: 'any algorithm signs a token', find: '      algorithms: [...algorithms],\n', replace: '' },
  { ...verify, name: 'a token is tried with any number of keys', find: 'tried === mostKeys', replace: 'tried < 0' },
  {
    ...tokens,
    file: 'src/authenticator/claims.ts',
    name: 'a token may name a part of another platform',
    find: '|| !/^[\\w.-]{1,255}$/.test(platform)',
    replace: '',
  },
  {
    ...tokens,
    file: 'src/authenticator/jwt.ts',
    name: 'a token that was good on a connection is good for ever',
    find: ' && clock.now() < before.until',
    replace: '',
  },
  { ...keys, name: 'each wrong token asks for the keys', find: 'clock.now() >= mayLoadAt', replace: 'true' },
  { ...keys, name: 'old keys are good for ever', find: 'clock.now() - known.at < keptFor', replace: 'known.at > 0' },
  { ...json, name: 'keys may grow', find: 'if (size > longestAnswer) throw', replace: 'if (size < 0) throw' },
  { ...json, name: 'keys may come from elsewhere', find: "redirect: 'manual'", replace: "redirect: 'follow'" },
  {
    ...certificates,
    file: 'src/authenticator/certificates.ts',
    name: 'a certificate of any CA is good',
    find: 'if (!authorized) return untrusted',
    replace: '',
  },
  {
    ...certificates,
    file: 'src/authenticator/certificates.ts',
    name: 'a revoked certificate is good on an open connection',
    find: "if (revoked.has(id)) return { refused: 'the certificate was revoked' }",
    replace: '',
  },
  {
    ...certificates,
    file: 'src/authenticator/certificates.ts',
    name: 'a session outlives the CA of its certificate',
    find: 'trusted.has(ca)',
    replace: "ca !== ''",
  },
  {
    ...certificates,
    file: 'src/authenticator/certificates.ts',
    name: 'a certificate that expires is good while its connection is open',
    find: "if (now >= until) return { refused: 'the certificate has expired' }",
    replace: '',
  },
  {
    ...certificates,
    file: 'src/authenticator/certificates.ts',
    name: 'a wrong password does not matter beside a certificate',
    find: 'headers.authorization !== undefined || ',
    replace: '',
  },
  { ...openId, name: 'any browser can end a sign-in', find: '|| !isSame(state, kept.state)', replace: '' },
  { ...openId, name: 'a token of another sign-in is good', find: '|| !isSame(claims.nonce, nonce)', replace: '' },
  {
    ...openId,
    name: 'another provider may answer',
    find: 'from !== undefined && from !== issuer',
    replace: 'from === ""',
  },
  {
    ...openId,
    file: 'src/http/admin/session.ts',
    name: 'a session that was planted stays good',
    find: 'if (left !== undefined) await sessions.end(left.id, { by: principal.name, address, requestId })',
    replace: '',
  },
  {
    file: 'src/server/follow-files.ts',
    suite: ['test/sign-in/reload.test.ts'],
    name: 'a changed file may take all credentials away',
    find: 'if (signIn !== undefined && !hasCredentials(next))',
    replace: 'if (signIn === null)',
  },
  { ...session, name: 'a session has no end', find: '(note.expiresAt ?? 0) <= now()', replace: 'note.version < 0' },
  {
    ...session,
    name: 'a session can be renewed for ever',
    find: 'Math.min(now() + idleTime, begunAt + longestTime, until ?? Number.POSITIVE_INFINITY)',
    replace: 'now() + idleTime',
  },
  {
    ...session,
    name: 'signing out only makes the browser forget',
    file: 'src/http/admin/session.ts',
    find: '(await sessions.end(session.id, acting)) !== undefined',
    replace: 'session.id !== ""',
  },
  {
    ...session,
    name: 'the ledger holds what can be sent as a cookie',
    find: "return createHash('sha256').update(token).digest('base64url')",
    replace: 'return token',
  },
  {
    ...session,
    file: 'src/authenticator/basic.ts',
    name: 'a session outlives its password',
    find: '(await password.proof()) === proof',
    replace: 'proof !== ""',
  },
  {
    ...session,
    file: 'src/authenticator/basic.ts',
    name: 'a session is given to somebody of the same name',
    find: 'each.principal === principal',
    replace: 'each.principal.name === principal.name',
  },
  {
    ...unsafe,
    name: 'others reach a broker without credentials',
    find: '!hasCredentials(config) &&',
    replace: 'false &&',
  },
  { ...unsafe, name: 'a password from the documents is good', find: 'known !== undefined &&', replace: 'false &&' },
  {
    ...unsafe,
    name: 'a hash of a password that everybody knows lets in',
    find: 'isRefused && isKnownPassword(password)',
    replace: 'false',
  },
  { ...unsafe, name: 'everybody may read a secret', find: '(found.mode & 0o004) !== 0', replace: 'found.mode < 0' },
]
