import { describe, expect, it } from 'vitest'
import { formatProblem } from '../catalog/problem.ts'
import { checkDefinition } from './check-definition.ts'

const service = { id: 'x', name: 'x', provision() {}, deprovision() {} }
const hook = { name: 'audit', before() {} }
const route = { method: 'GET', path: '/files/*', handle: () => new Response() }

function problemsOf(definition: unknown): string[] {
  return checkDefinition(definition).map(formatProblem)
}

function ofService(more: object): string[] {
  return problemsOf({ services: [{ ...service, ...more }] })
}

describe('checkDefinition', () => {
  it('finds nothing wrong with what is right', () => {
    const full = {
      ...service,
      bindable: true,
      plans: [],
      bind() {},
      unbind() {},
      update() {},
      observe: () => ({ ready: true }),
      parameters: { type: 'object' },
      state: {},
      upgradeState: () => ({}),
      actions: {
        bind: { async: 'always', timeout: '1h', retry: { initial: 5, factor: 2, max: '1m', attempts: 3, for: '1h' } },
      },
      callTimeout: '5s',
      observeEvery: '1m',
      concurrency: 4,
      dashboard: 'redirect',
      requiresApp: true,
      fetchInstance() {},
    }
    expect(problemsOf({ services: [full, service], hooks: [hook, { name: 'b' }], routes: [route] })).toEqual([])
    expect(problemsOf({ services: [], catalog: 'catalog.yaml', presentCatalog: () => [] })).toEqual([])
  })

  it('tells all mistakes at once', () => {
    const found = problemsOf({
      services: [
        { id: 'a', provison() {} },
        { ...service, callTimeout: 'soon' },
      ],
      hooks: [hook, hook],
      routs: [],
    })
    expect(found).toEqual([
      'service "a": "provison" is not known here; did you mean provision?',
      'the broker: "routs" is not known here; did you mean routes?',
      'service "a": "provision" is missing; add "provision": a function',
      'service "a": "deprovision" is missing; add "deprovision": a function',
      expect.stringMatching(/^service "x": "callTimeout" must be a duration .*, but is "soon"; correct it$/),
      'hook "audit": a hook before it has the same name; give each hook a name of its own: it names the checkpoints',
    ])
  })

  it.each<[object, string]>([
    [{ parametrs: {} }, '"parametrs" is not known here; did you mean parameters?'],
    [{ plan: [] }, '"plan" is not known here; did you mean plans?'],
    [{ provision: {} }, '"provision" must be a function, but is an object; correct it'],
    [{ actions: { provison: {} } }, '"actions.provison" is not known here; did you mean provision?'],
    [{ actions: { provision: { time: 1 } } }, '"actions.provision.time" is not known here'],
    [{ actions: { provision: { async: 'maybe' } } }, '"actions.provision.async" must be'],
    [{ actions: { provision: { retry: { max: '1 week' } } } }, '"actions.provision.retry.max" must be a duration'],
    [
      { actions: { update: { timeout: '1h' } } },
      'there are settings for update, which the service does not have; define',
    ],
    [{ bind() {} }, 'there is bind without unbind; define unbind, which takes back what bind gave'],
    [{ unbind() {} }, 'there is unbind without bind; define bind, or remove unbind'],
    [{ upgradeState() {} }, 'there is upgradeState without state; add state'],
    [{ dashboard: 'https://x' }, `"dashboard" must be 'redirect' or a function`],
    [{ actions: { provision: { timeout: 'soon' } } }, '"actions.provision.timeout" must be a duration'],
    [{ concurrency: 0 }, '"concurrency" must be a whole number from 1 to 10000'],
    [{ observeEvery: -1 }, '"observeEvery" must be a duration'],
  ])('of a service: %j', (more, problem) => {
    expect(ofService(more)).toEqual([expect.stringContaining(`service "x": ${problem}`)])
  })

  it.each<[object, string]>([
    [{ before() {} }, 'hook number 1: "name" is missing; add "name": a text'],
    [{ ...hook, after: 'x' }, 'hook "audit": "after" must be a function, but is "x"; correct it'],
    [{ ...hook, befor() {} }, 'hook "audit": "befor" is not known here; did you mean before?'],
    [{ ...hook, actions: ['provison'] }, 'but is "provison"; did you mean provision?'],
    [{ ...hook, actions: ['create'] }, 'hook "audit": "actions[0]" must be provision'],
  ])('of a hook: %j', (given, problem) => {
    expect(problemsOf({ services: [], hooks: [given] })).toEqual([expect.stringContaining(problem)])
  })

  it.each([
    '/v2',
    '/v2/*',
    '/v2/catalog',
    '/eu/v2/*',
    '/admin',
    '/admin/*',
    '/console/*',
    '/healthz',
    '/readyz',
    '/metrics',
    '/metrics/*',
    '/dashboards/*',
    '/*',
  ])('a route must not hide %s', path => {
    expect(problemsOf({ services: [], routes: [{ ...route, path }] })).toEqual([
      `route "GET ${path}": ${path} belongs to the broker itself; choose another path`,
    ])
  })

  it.each(['/v2x', '/files/v2x/*', '/administration', '/files', '/'])('a route may have the path %s', path => {
    expect(problemsOf({ services: [], routes: [{ ...route, path }] })).toEqual([])
  })

  it.each<[object, string]>([
    [{ ...route, path: 'files' }, 'route "GET files": "path" must be a path such as \'/files\''],
    [{ ...route, path: '/a*' }, '"path" must be a path'],
    [{ ...route, method: 'get' }, '"method" must be a method in capital letters'],
    [{ ...route, handler() {} }, '"handler" is not known here; did you mean handle?'],
  ])('of a route: %j', (given, problem) => {
    expect(problemsOf({ services: [], routes: [given] })).toEqual([expect.stringContaining(problem)])
  })

  it('two routes must differ', () => {
    expect(problemsOf({ services: [], routes: [route, { ...route, method: 'PUT' }, route] })).toEqual([
      'route "GET /files/*": a route before it has the same method and path; choose another path',
    ])
  })

  it('names what stands where a service should be', () => {
    expect(problemsOf({ services: [undefined, Promise.resolve(service)], catalog: 5 })).toEqual([
      'service number 1: it must be what defineService returns, but is undefined; correct it',
      'service number 2: it must be what defineService returns, but is a promise; correct it',
      'the broker: "catalog" must be the path of a file, or a list of offerings, but is 5; correct it',
    ])
    const [wrong] = ofService({ actions: { provision: { timeout: 'soon' } } })
    expect(wrong).toMatch(/; correct it$/)
  })

  it.each([undefined, null, 5, [], {}, { services: {} }, { services: [5] }])('of %j', definition => {
    expect(problemsOf(definition).length).toBeGreaterThan(0)
  })
})
