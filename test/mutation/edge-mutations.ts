import type { Mutation } from './mutation.ts'

const host = { suite: ['test/http/host.test.ts'], only: 'own server|operator allows|Request' }
const basic = { file: 'src/authenticator/basic.ts', suite: ['src/authenticator/basic.test.ts'] }

/** Who is let in, under which name, and what a flood of those who are not may use up. */
export const edgeMutations: readonly Mutation[] = [
  {
    ...basic,
    name: 'a flood of logins has no limit for each address',
    find: 'if (address !== undefined) counts.push',
    replace: 'if (address === "") counts.push',
  },
  {
    ...basic,
    name: 'a flood of logins has no limit for each user',
    find: 'throttle.wait(key)))',
    replace: 'throttle === byUser ? 0 : throttle.wait(key)))',
  },
  {
    ...basic,
    name: 'a right login counts as an attempt',
    find: 'throttle.giveBack(key)',
    replace: 'throttle.wait(key)',
  },
  {
    ...basic,
    name: 'what was right before is not remembered',
    find: 'found.pair = pair',
    replace: '',
  },
  {
    ...basic,
    name: 'control characters in a login pass',
    find: 'hasControls(text) || ',
    replace: '',
  },
  {
    ...basic,
    name: 'a login that is not UTF-8 passes',
    find: ' || !isUtf8(bytes)',
    replace: '',
  },
  {
    file: 'src/authenticator/limiter.ts',
    suite: ['src/authenticator/limiter.test.ts'],
    name: 'any number of logins waits',
    find: 'if (queue.length >= waiting) return undefined',
    replace: '',
  },
  {
    file: 'src/authenticator/throttle.ts',
    suite: ['src/authenticator/throttle.test.ts'],
    name: 'any number of addresses is remembered',
    find: 'if (oldest !== undefined) fullAt.delete(oldest)',
    replace: '',
  },
  {
    file: 'src/authenticator/decoys.ts',
    suite: ['src/authenticator/decoys.test.ts'],
    name: 'users that are not there cost as much as the first one',
    find: 'for (; missing >= work; missing -= work)',
    replace: 'if (missing >= work)',
  },
  {
    file: 'src/driver/bundle/attempt.ts',
    suite: ['test/driver/redaction.test.ts'],
    name: 'new state of a bundle is shown',
    find: '...[state, bindingState].flatMap(secretsInState)',
    replace: '...[state, bindingState].flatMap(() => [])',
  },
  {
    file: 'src/driver/bundle/facts.ts',
    suite: ['test/driver/redaction.test.ts'],
    name: 'old state of a bundle is shown',
    find: ', ...kept.flatMap(secretsInState)',
    replace: ', ...kept.flatMap(() => [])',
  },
  {
    file: 'src/sandbox/outputs.ts',
    suite: ['src/sandbox/outputs.test.ts'],
    name: 'progress shows what a bundle has just made',
    find: '...(await secretsMade(folder))',
    replace: '',
  },
  {
    ...host,
    file: 'src/http/check-host.ts',
    name: 'anything is a Host',
    find: 'if (!isHost(host)) throw',
    replace: 'if (host === "*") throw',
  },
  {
    ...host,
    file: 'src/http/check-host.ts',
    name: 'a page may lead its own name to an open broker',
    find: "throw new BrokerError('UnknownHost', unknown)",
    replace: 'return',
  },
  {
    ...host,
    file: 'src/http/check-host.ts',
    name: 'a name is good once it has asked for health',
    find: "if (!isHealthPath(path)) throw new BrokerError('UnknownHost', unknown)\n      return",
    replace: "if (!isHealthPath(path)) throw new BrokerError('UnknownHost', unknown)",
  },
  {
    ...host,
    file: 'src/http/node/request.ts',
    name: 'an absolute target has no say in the Host',
    find: 'absoluteForm.exec(url)?.[1] ?? headers.host',
    replace: 'headers.host',
  },
  {
    file: 'src/http/node/request.ts',
    suite: ['test/http/host.test.ts'],
    only: 'comes once',
    name: 'two Hosts are one',
    find: 'host === undefined ? headers.host :',
    replace: 'host !== "" ? headers.host :',
  },
  {
    ...host,
    file: 'src/http/open-routes.ts',
    name: 'a route sees a path that is not its own',
    find: 'if (!matches(route.path, target.pathname)) throw',
    replace: 'if (target.pathname === "") throw',
  },
  {
    ...host,
    file: 'src/http/admin/admin-app.ts',
    name: 'pages of other sites may change something',
    find: 'refuseCrossSite(exchange, context.publicUrl)',
    replace: '',
  },
]
