import { describe, expect, it } from 'vitest'
import { parseImageName } from './image-name.ts'

describe('the name of an image', () => {
  it.each([
    ['greeter', undefined, 'greeter', 'latest'],
    ['team/greeter:1.0', undefined, 'team/greeter', '1.0'],
    ['localhost/greeter:1.0', 'localhost', 'greeter', '1.0'],
    ['localhost:5000/a/b/c', 'localhost:5000', 'a/b/c', 'latest'],
    ['registry.example.com/team/my_greeter-2:v1', 'registry.example.com', 'team/my_greeter-2', 'v1'],
    ['registry:5000/greeter', 'registry:5000', 'greeter', 'latest'],
    ['[::1]:5000/greeter:1', '[::1]:5000', 'greeter', '1'],
  ])('%s', (text, host, repository, tag) => {
    expect(parseImageName(text)).toEqual({ host, repository, tag })
  })

  it.each(['', 'Team/greeter', 'a//b', 'a:', 'a:1:2', '-x', '--help', 'a b', 'https://example.com/a', 'a@sha256:1'])(
    '"%s" is none',
    text => {
      expect(() => parseImageName(text)).toThrow()
    },
  )

  it('shows no password that somebody has put before it', () => {
    expect(() => parseImageName('me:hunter2-secret@registry.example.com/db')).toThrow(
      /^an image cannot have an @ in its name: (?!.*hunter2)/,
    )
  })
})
