/** What a driver can do to a resource. `sweep` is a second deprovision or unbind after a superseded creation. */
export const actions = ['provision', 'update', 'deprovision', 'bind', 'unbind', 'observe', 'sweep'] as const
export type Action = (typeof actions)[number]
