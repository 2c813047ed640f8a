import { expectTypeOf, test } from 'vitest'
import type { Json, JsonObject } from '../protocol/json.ts'
import type { Jsonify, NotJson, Storable } from './jsonify.ts'

class Point {
  x = 1
  y: number | undefined
  private secret = 1
  get both() {
    return this.x + this.secret
  }
}
interface Tree {
  readonly name: string
  readonly at?: Date
  readonly children: readonly Tree[]
}

test('Jsonify is what JSON.parse gives back', () => {
  expectTypeOf<Jsonify<string | null>>().toEqualTypeOf<string | null>()
  expectTypeOf<Jsonify<'a' | 7>>().toEqualTypeOf<'a' | 7>()
  expectTypeOf<Jsonify<boolean>>().toEqualTypeOf<boolean>()
  expectTypeOf<Jsonify<Date>>().toEqualTypeOf<string>()
  expectTypeOf<Jsonify<URL | number>>().toEqualTypeOf<string | number>()
  expectTypeOf<Jsonify<{ at: Date; name: string }>>().toEqualTypeOf<{ at: string; name: string }>()
  expectTypeOf<Jsonify<{ a?: Date; b: string | undefined }>>().toEqualTypeOf<{ a?: string; b?: string }>()
  expectTypeOf<Jsonify<readonly Date[]>>().toEqualTypeOf<string[]>()
  expectTypeOf<Jsonify<[Date, number?]>>().toEqualTypeOf<[string, (number | null)?]>()
  expectTypeOf<Jsonify<(string | undefined)[]>>().toEqualTypeOf<(string | null)[]>()
  expectTypeOf<Jsonify<Point>>().toEqualTypeOf<{ x: number; y?: number; readonly both: number }>()
  expectTypeOf<Jsonify<{ [key: string]: Date }>>().toEqualTypeOf<{ [key: string]: string }>()
  expectTypeOf<Jsonify<unknown>>().toEqualTypeOf<unknown>()
  expectTypeOf<Jsonify<void>>().toEqualTypeOf<void>()
  expectTypeOf<Jsonify<undefined>>().toEqualTypeOf<undefined>()
  expectTypeOf<Jsonify<JsonObject>>().toMatchTypeOf<JsonObject>()
  expectTypeOf<Jsonify<Json>>().toMatchTypeOf<Json>()
  expectTypeOf<Jsonify<Tree>['children'][number]['at']>().toEqualTypeOf<string | undefined>()
})

test('Storable names what JSON cannot hold, at any depth', () => {
  expectTypeOf<Storable<Map<string, string>>>().toEqualTypeOf<NotJson<'a Map'>>()
  expectTypeOf<Storable<{ a: { b: Set<1>[] } }>>().toEqualTypeOf<{ a: { b: readonly NotJson<'a Set'>[] } }>()
  expectTypeOf<Storable<{ n: bigint }>>().toEqualTypeOf<{ n: NotJson<'a bigint'> }>()
  expectTypeOf<Storable<{ run(): void }>>().toEqualTypeOf<{ run: NotJson<'a function'> }>()
  expectTypeOf<Storable<symbol>>().toEqualTypeOf<NotJson<'a symbol'>>()
  expectTypeOf<Storable<[Promise<1>]>>().toEqualTypeOf<[NotJson<'a promise: await it'>]>()
  expectTypeOf<Tree>().toMatchTypeOf<Storable<Tree>>()
  expectTypeOf<Buffer>().toMatchTypeOf<Storable<Buffer>>()
  expectTypeOf<JsonObject>().toMatchTypeOf<Storable<JsonObject>>()
})
