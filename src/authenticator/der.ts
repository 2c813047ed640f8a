/** A value of DER: its tag, and where its content is. */
interface Value {
  readonly tag: number
  readonly content: Buffer
  /** With its tag and length. */
  readonly whole: Buffer
}

/** The values that stand one after another. Throws where the bytes are not DER. */
export function readValues(bytes: Buffer): readonly Value[] {
  const values: Value[] = []
  for (let at = 0; at < bytes.length; ) {
    const tag = bytes.readUInt8(at)
    const first = bytes.readUInt8(at + 1)
    const longer = first < 0x80 ? 0 : first & 0x7f
    if (longer > 4) throw new RangeError('a value is too long')
    const length = longer === 0 ? first : bytes.readUIntBE(at + 2, longer)
    const start = at + 2 + longer
    if (start + length > bytes.length) throw new RangeError('a value is cut off')
    values.push({ tag, content: bytes.subarray(start, start + length), whole: bytes.subarray(at, start + length) })
    at = start + length
  }
  return values
}
