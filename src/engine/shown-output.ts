import type { JsonObject } from '../protocol/json.ts'

/**
 * Returned by a step of which operators may read something: `shown` stands beside the output and holds no secret. It stays when
 * the output goes, with what the operation was about.
 */
export class ShownOutput {
  readonly output: unknown
  readonly shown: JsonObject

  constructor(output: unknown, shown: JsonObject) {
    this.output = output
    this.shown = shown
  }
}
