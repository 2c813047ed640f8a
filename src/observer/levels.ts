import type { EventType } from '../events.ts'
import { eventTypes, type LogLevel } from './lines.ts'

/** What stands before the dot in the name of an event: `request`, `operation`, `step`, … */
export type LogArea = EventType extends `${infer Area}.${string}` ? Area : never

export type AreaLevel = LogLevel | 'off'

export const ranks: Readonly<Record<AreaLevel, number>> = { info: 0, warn: 1, error: 2, off: 3 }

export const areaLevels = Object.keys(ranks) as readonly AreaLevel[]

export function areaOf(event: EventType): LogArea {
  return event.slice(0, event.indexOf('.')) as LogArea
}

export const logAreas: readonly LogArea[] = [...new Set(eventTypes.map(areaOf))]

/** The least that gets a line, area by area. */
export interface LogLevels {
  of(area: LogArea): AreaLevel
  /** For all areas, or for one. */
  set(level: AreaLevel, area?: LogArea): void
  all(): Readonly<Record<LogArea, AreaLevel>>
}

export function createLogLevels(
  level: AreaLevel,
  areas: Readonly<Partial<Record<LogArea, AreaLevel>>> = {},
): LogLevels {
  const levels = new Map(logAreas.map(area => [area, areas[area] ?? level]))
  return {
    of: area => levels.get(area) ?? level,
    set(changed, only) {
      for (const area of only === undefined ? logAreas : [only]) levels.set(area, changed)
    },
    all: () => Object.fromEntries(levels) as Record<LogArea, AreaLevel>,
  }
}
