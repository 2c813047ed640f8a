/**
 * A copy without the keys whose value is undefined. Validators of JSON Schema take such a key for a keyword, and where it is
 * spread over defaults it would hide them.
 */
export function present<T extends object>(fields: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]?: Exclude<T[K], undefined>
  }
}
