import { describe, expect, it } from 'vitest'
import { createSteadyTime } from './clock.ts'

function createMachine() {
  const machine = { wall: 1_000_000_000, elapsed: 0 }
  const now = createSteadyTime({ wall: () => machine.wall, elapsed: () => machine.elapsed })
  return {
    now,
    pass(ms: number) {
      machine.wall += ms
      machine.elapsed += ms
    },
    jump(ms: number) {
      machine.wall += ms
    },
    ahead: () => now() - machine.wall,
  }
}

const hour = 3_600_000

describe('the steady time', () => {
  it('is that of the wall', () => {
    const machine = createMachine()
    for (let round = 0; round < 10; round += 1) {
      machine.pass(12_345)
      expect(machine.ahead()).toBe(0)
    }
  })

  it.each([-hour, 3 * hour])('goes on as before when the wall jumps by %i, and nears it by a tenth', jump => {
    const machine = createMachine()
    const before = machine.now()
    machine.jump(jump)
    expect(machine.now()).toBe(before)
    machine.pass(10_000)
    expect(machine.now() - before).toBe(10_000 + Math.sign(jump) * 1_000)
    for (let round = 0; round < 40; round += 1) {
      machine.pass(hour)
      machine.now()
    }
    expect(Math.abs(machine.ahead())).toBeLessThan(hour / 10)
  })

  it('follows small corrections, and never goes back', () => {
    const machine = createMachine()
    machine.jump(500)
    expect(machine.ahead()).toBe(0)
    const before = machine.now()
    machine.jump(-300)
    expect(machine.now()).toBe(before)
    machine.pass(300)
    expect(machine.ahead()).toBe(0)
  })
})
