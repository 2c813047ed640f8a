import { describe, expect, it } from 'vitest'
import { welcome } from './welcome.ts'

const demo = { url: 'http://127.0.0.1:8080', store: 'sqlite:demo.db', demo: true, console: true, command: 'npx purser' }

describe('the first thing a person sees', () => {
  it('takes the password of the demo from its file, and never prints one', () => {
    const text = welcome({ ...demo, users: ['demo'], env: {} })
    expect(text).toContain('PURSER_USERNAME=demo PURSER_PASSWORD="$(cat .purser/demo-password)"')
  })

  it('leaves a password that was set to the one who set it', () => {
    const text = welcome({ ...demo, users: ['me'], env: { PURSER_USERNAME: 'me', PURSER_PASSWORD: 'canary-secret' } })
    expect(text).toContain('PURSER_USERNAME=me  # and the PURSER_PASSWORD of this broker')
    expect(text).not.toContain('canary-secret')
  })

  it('says where the console is, where there is one', () => {
    expect(welcome({ ...demo, users: ['demo'], env: {} })).toContain('console  http://127.0.0.1:8080/console/\n')
    expect(welcome({ ...demo, console: false, users: ['demo'], env: {} })).not.toContain('/console/')
  })

  it('shows no demo steps for a broker of your own', () => {
    const text = welcome({ ...demo, demo: false, users: [], env: {} })
    expect(text).toContain('none: everybody on this machine')
    expect(text).not.toContain('provision kv')
  })
})
