import { StringDecoder } from 'node:string_decoder'

/** The lines of a stream of bytes. Only a line feed ends one: a text in JSON may hold other ends of lines. */
export async function* linesOf(source: AsyncIterable<string | Uint8Array>): AsyncIterable<string> {
  const decoder = new StringDecoder('utf8')
  let parts: string[] = []
  for await (const piece of source) {
    const text = typeof piece === 'string' ? piece : decoder.write(Buffer.from(piece))
    const [first = '', ...others] = text.split('\n')
    parts.push(first)
    for (const line of others) {
      yield parts.join('')
      parts = [line]
    }
  }
  const rest = `${parts.join('')}${decoder.end()}`
  if (rest !== '') yield rest
}
