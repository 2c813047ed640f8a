import type { BasicUser } from '../../src/authenticator/basic.ts'

export const operator = { username: 'ada', password: 'lovelace' }
export const viewer = { username: 'vera', password: 'only-looks' }

export const users: readonly BasicUser[] = [
  { ...operator, platform: 'console', roles: ['platform', 'admin'] },
  { ...viewer, platform: 'console', roles: ['viewer'] },
]
