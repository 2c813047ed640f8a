import { describe, expect, it, onTestFinished } from 'vitest'
import { observeAll } from './observer/log.ts'
import { combineObservers } from './observer.ts'

describe('combineObservers', () => {
  it('tells everybody, in their order, and has no listener where nobody listens', () => {
    const heard: string[] = []
    const observer = combineObservers({ 'chore.lost': ({ chore }) => heard.push(`first ${chore}`) }, undefined, {
      'chore.lost': ({ chore }) => heard.push(`second ${chore}`),
    })
    observer['chore.lost']?.({ chore: 'purge' })
    expect(heard).toEqual(['first purge', 'second purge'])
    expect(Object.keys(observer)).toEqual(['chore.lost'])
  })

  it('keeps the errors of a listener from the broker and from the others, and reports them once', async () => {
    const warnings: string[] = []
    const warned = (warning: Error) => warnings.push(warning.message)
    process.on('warning', warned)
    onTestFinished(() => void process.off('warning', warned))
    const heard: unknown[] = []
    const observer = combineObservers(
      {
        'chore.lost': () => {
          throw new Error('broken')
        },
        'registry.available': async () => {
          throw new Error('broken later')
        },
      },
      observeAll((type, event) => heard.push([type, event])),
    )
    for (let time = 0; time < 2; time += 1) {
      observer['chore.lost']?.({ chore: 'purge' })
      observer['registry.available']?.({ registry: 'dh' })
    }
    await new Promise(resolve => setImmediate(resolve))
    expect(heard).toHaveLength(4)
    expect(warnings.sort()).toEqual([
      'a listener to chore.lost failed: broken',
      'a listener to registry.available failed: broken later',
    ])
  })
})
