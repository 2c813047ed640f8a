import { expect, it } from 'vitest'
import { deleteInDoubt, subjects } from '../engine/reused-ids.ts'
import { minutes, seconds } from '../engine/world.ts'
import { describeWorlds } from './worlds.ts'

describeWorlds('a PUT on an id whose deletion is being swept, over two replicas', makeWorld => {
  for (const [name, subject] of Object.entries(subjects)) {
    const { id } = subject

    it(`an ${name}: is accepted by one, survives the other, and begins when the sweep has ended`, async () => {
      const world = await deleteInDoubt(subject, makeWorld, { lost: [1, 3] })
      const { process, clock, log, things, watch } = world
      const other = await world.bootReplica()
      const creation = await subject.put(other, 'new')
      expect(await subject.put(process, 'new')).toBe(creation)
      await clock.advance(seconds(61))
      process.crash()
      await clock.advance(minutes(5))
      expect(await subject.poll(other, creation)).toMatchObject({ state: 'succeeded' })
      expect(log().filter(line => line.includes('create'))).toHaveLength(2)
      expect(log().at(-1)).toMatch(/ create /)
      expect(log().at(-2)).toMatch(/ delete .* old$/)
      expect(things.has(id)).toBe(true)
      expect(watch.active()).toEqual([])
    })

    it.each([10, 62])(`an ${name}: a DELETE of it %i s later is done at once, and the sweep goes on`, async at => {
      const world = await deleteInDoubt(subject, makeWorld, { lost: [1, 3] })
      const { process, clock, log, things, watch } = world
      const other = await world.bootReplica()
      const creation = await subject.put(process)
      await clock.advance(seconds(at))
      expect((await subject.deleteRaw(other)).status).toBe(200)
      expect((await subject.deleteRaw(process)).status).toBe(410)
      expect(await subject.poll(other, creation)).toMatchObject({ state: 'failed' })
      await clock.advance(minutes(5))
      expect(log().filter(line => line.includes('create'))).toHaveLength(1)
      expect(things.has(id)).toBe(false)
      expect(watch.active()).toEqual([])
    })
  }
})
