/** The same function, which does not make again what it has made for the value before. */
export function rememberLatest<Value>(make: (value: Value) => string): (value: Value) => string {
  let latest: Value | undefined
  let made = ''
  return value => {
    if (value !== latest) {
      made = inOnePiece(make(value))
      latest = value
    }
    return made
  }
}

/** The same function, which makes nothing twice for the first `most` values. */
export function rememberFirst<Value>(most: number, make: (value: Value) => string): (value: Value) => string {
  const known = new Map<unknown, string>()
  return value => {
    const remembered = known.get(value)
    if (remembered !== undefined) return remembered
    const made = make(value)
    // A copy of the value: it may be a part of a longer text, which would stay as long.
    if (known.size < most) known.set(typeof value === 'string' ? inOnePiece(value) : value, inOnePiece(made))
    return made
  }
}

/** A text that was put together is kept as a tree of its parts, which everybody who uses it walks through. */
export function inOnePiece(text: string): string {
  return Buffer.from(text).toString()
}
