import { describe, expect, it } from 'vitest'
import { createVirtualClock } from '../testing/virtual-clock.ts'
import { createThrottle, networkOf } from './throttle.ts'

describe('createThrottle', () => {
  it('gives each key some attempts, and one more after each interval', async () => {
    const clock = createVirtualClock()
    const throttle = createThrottle({ burst: 2, interval: 1000, mostKeys: 10 }, clock)
    throttle.take('a')
    expect(throttle.wait('a')).toBe(0)
    throttle.take('a')
    expect([throttle.wait('a'), throttle.wait('b')]).toEqual([1000, 0])
    await clock.advance(400)
    expect(throttle.wait('a')).toBe(600)
    await clock.advance(600)
    expect(throttle.wait('a')).toBe(0)
    throttle.take('a')
    expect(throttle.wait('a')).toBe(1000)
    throttle.giveBack('a')
    expect(throttle.wait('a')).toBe(0)
    await clock.advance(60_000)
    throttle.take('a')
    throttle.take('a')
    expect(throttle.wait('a')).toBe(1000)
  })

  it('remembers only so many keys, and of those the ones that tried last', () => {
    const throttle = createThrottle({ burst: 1, interval: 1000, mostKeys: 3 }, createVirtualClock())
    for (const key of ['a', 'b', 'c', 'a', 'd']) throttle.take(key)
    expect(['a', 'b', 'c', 'd'].map(key => throttle.wait(key) > 0)).toEqual([true, false, true, true])
  })
})

describe('networkOf', () => {
  it.each([
    ['10.1.2.3', '10.1.2.3'],
    ['::ffff:10.1.2.3', '10.1.2.3'],
    ['::FFFF:10.1.2.3', '10.1.2.3'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2'],
    ['2001:0DB8:1:2::6', '2001:db8:1:2'],
    ['2001:db8::', '2001:db8:0:0'],
    ['::1', '0:0:0:0'],
    ['fe80::1%eth0', 'fe80:0:0:0'],
    ['unknown', 'unknown'],
  ])('%s is %s', (address, network) => {
    expect(networkOf(address)).toBe(network)
  })
})
