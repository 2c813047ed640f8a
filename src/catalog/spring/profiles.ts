/**
 * Whether a profile expression of Spring holds: `cloud`, `!cloud`, `cloud & (eu | us)`. One that cannot be read does not
 * hold: Spring would refuse to start, and a part that was meant for nobody must not be served.
 */
export function holds(expression: string, active: ReadonlySet<string>): boolean {
  const tokens = expression.match(/[()&|!]|[^\s()&|!]+/g) ?? []
  let at = 0

  const readAll = (): boolean | undefined => {
    let result = readOne()
    for (let operator = tokens[at]; operator === '&' || operator === '|'; operator = tokens[at]) {
      at += 1
      const next = readOne()
      if (result === undefined || next === undefined) return undefined
      result = operator === '&' ? result && next : result || next
    }
    return result
  }

  const readOne = (): boolean | undefined => {
    const token = tokens[at]
    at += 1
    if (token === '!') {
      const inner = readOne()
      return inner === undefined ? undefined : !inner
    }
    if (token === '(') {
      const inner = readAll()
      return tokens[at++] === ')' ? inner : undefined
    }
    return token === undefined || /^[)&|]$/.test(token) ? undefined : active.has(token)
  }

  return readAll() === true && at === tokens.length
}
