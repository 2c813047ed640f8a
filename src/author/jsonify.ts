import type { JsonObject } from '../protocol/json.ts'
import type { Sensitive } from '../sensitive/sensitive.ts'

/**
 * What is left of a value in the ledger: `JSON.parse(JSON.stringify(value))`, as a type. A `Date` is a text, a key that may
 * be undefined is optional, and `toJSON` decides where there is one.
 */
export type Jsonify<T> =
  IsAnyJson<T> extends true
    ? T
    : // biome-ignore lint/suspicious/noConfusingVoidType: a step may return nothing
      T extends Primitive | void
      ? T
      : T extends Sensitive<infer Hidden>
        ? Sensitive<Jsonify<Hidden>>
        : T extends { toJSON(...args: never[]): infer Written }
          ? Jsonify<Written>
          : T extends readonly unknown[]
            ? IsTuple<T> extends true
              ? { [Index in keyof T]: JsonifyItem<T[Index]> }
              : JsonifyItem<T[number]>[]
            : T extends object
              ? Flat<
                  { [Key in keyof T as PresentKey<T, Key>]: Jsonify<T[Key]> } & {
                    [Key in keyof T as AbsentKey<T, Key>]?: Jsonify<Defined<T[Key]>>
                  }
                >
              : never

/** JSON has null where a list has undefined. */
type JsonifyItem<T> = undefined extends T ? Jsonify<Defined<T>> | null : Jsonify<T>

/**
 * The same value, with an error type in the place of whatever JSON cannot hold. A value that JSON can hold has this type, and
 * no other value has.
 */
export type Storable<T> =
  IsAnyJson<T> extends true
    ? T
    : // biome-ignore lint/suspicious/noConfusingVoidType: a step may return nothing
      T extends Primitive | void
      ? T
      : T extends { toJSON(...args: never[]): unknown }
        ? T
        : T extends Lost
          ? NotJson<NameOf<T>>
          : T extends readonly unknown[]
            ? IsTuple<T> extends true
              ? { [Index in keyof T]: Storable<T[Index]> }
              : readonly Storable<T[number]>[]
            : T extends object
              ? { [Key in keyof T]: Storable<T[Key]> }
              : NotJson<NameOf<T>>

/** Stands in the messages of the compiler. */
export interface NotJson<What extends string> {
  readonly 'JSON cannot hold this': What
}

/** What the ledger may be given where it has a value of this type already: the value itself, or what came back from there. */
export type Again<T> = T extends readonly unknown[] ? T | Jsonify<T> : { [Key in keyof T]: T[Key] | Jsonify<T[Key]> }

type Primitive = string | number | boolean | null | undefined
type Defined<T> = Exclude<T, undefined>
type Flat<T> = { [Key in keyof T]: T[Key] }
/** `any` and `unknown`, which nobody can judge; and `JsonObject`. */
type IsAnyJson<T> = unknown extends T ? true : [JsonObject, T] extends [T, JsonObject] ? true : false
type IsTuple<T extends readonly unknown[]> = number extends T['length'] ? false : true
type PresentKey<T, Key extends keyof T> = undefined extends T[Key] ? never : Exclude<Key, symbol>
type AbsentKey<T, Key extends keyof T> = undefined extends T[Key] ? Exclude<Key, symbol> : never

/** Objects that become `{}`, and what is no object at all. */
type Lost =
  | ((...args: never[]) => unknown)
  | ReadonlyMap<unknown, unknown>
  | ReadonlySet<unknown>
  | WeakMap<object, unknown>
  | WeakSet<object>
  | Promise<unknown>
  | RegExp
  | Error
  | ArrayBuffer
  | ArrayBufferView

type NameOf<T> = T extends bigint
  ? 'a bigint'
  : T extends symbol
    ? 'a symbol'
    : T extends (...args: never[]) => unknown
      ? 'a function'
      : T extends ReadonlyMap<unknown, unknown>
        ? 'a Map'
        : T extends ReadonlySet<unknown>
          ? 'a Set'
          : T extends Promise<unknown>
            ? 'a promise: await it'
            : T extends Error
              ? 'an Error'
              : 'an object that JSON loses'
