import { areaLevels, logAreas } from '../../observer/levels.ts'
import { BrokerError } from '../../protocol/errors.ts'
import { oneOf } from '../../shape/fields.ts'
import { object, optional } from '../../shape/shape.ts'
import { json } from '../respond.ts'
import type { AdminEndpoint } from './admin-app.ts'
import { readFields } from './read-fields.ts'

const level = optional(oneOf(areaLevels))
export const logLevelsBody = object({
  all: level,
  ...Object.fromEntries(logAreas.map(area => [area, level])),
})

/** PUT /admin/log-levels: what this replica logs from now on, until it is started again. Without changes it tells how it is. */
export const setLogLevelsEndpoint: AdminEndpoint = async ({ broker, log }, request) => {
  if (log === undefined)
    throw new BrokerError(
      'NotFound',
      'The log is written by the application that this broker runs in: change it there.',
    )
  const { all, ...areas } = readFields(logLevelsBody, await request.body()) as Readonly<
    Record<string, (typeof areaLevels)[number]>
  >
  if (all !== undefined) log.set(all)
  for (const area of logAreas) if (areas[area] !== undefined) log.set(areas[area], area)
  if (all !== undefined || Object.keys(areas).length > 0)
    broker.observer['log.levelsChanged']?.({
      principal: request.acting.by,
      requestId: request.acting.requestId,
      levels: JSON.stringify(log.all()),
    })
  return json(200, { levels: { ...log.all() } })
}
