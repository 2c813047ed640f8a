import type { ASTNode, Environment } from '@marcbachmann/cel-js'
import { compilePattern, PatternError } from '../catalog/pattern.ts'
import type { Json, JsonObject } from '../protocol/json.ts'
import { messageOf } from '../shape/thrown.ts'
import { type Functions, functions } from './functions.ts'

/** An expression cannot be read, or cannot be computed with these values. The message shows no value. */
export class ExpressionError extends Error {
  override readonly name = 'ExpressionError'
}

/** One expression of CEL, the language of Kubernetes' own rules. */
export interface Expression {
  /** As it was written. */
  readonly text: string
  /** The parts of a variable that it names: `objects.server.spec` reads `server` of `objects`. */
  reads(variable: string): readonly string[]
  /** Throws an ExpressionError where a value is missing, or of the wrong type. */
  evaluate(values: JsonObject): Json
}

/** Throws an ExpressionError where the text is no expression, or names a variable that there is not. */
export type Compile = (text: string) => Expression

/** Far more than people write. */
const limits = { maxAstNodes: 2_000, maxDepth: 100, maxListElements: 500, maxMapEntries: 500, maxCallArguments: 16 }

/** The language, with these variables. Its library is loaded with the first call. */
export async function loadExpressions(variables: readonly string[]): Promise<Compile> {
  const { Environment } = await import('@marcbachmann/cel-js')
  const environment = new Environment({ homogeneousAggregateLiterals: false, enableOptionalTypes: true, limits })
  for (const variable of variables) environment.registerVariable(variable, 'dyn')
  const added: Functions = { ...functions, 'string.matchesPattern(string): bool': matches }
  for (const [signature, handler] of Object.entries(added)) environment.registerFunction(signature, handler)
  return text => compile(environment, text)
}

function compile(environment: Environment, text: string): Expression {
  const first = parse(environment, text)
  const parsed = parse(environment, withLinearPatterns(text, first.ast))
  const checked = parsed.check()
  if (!checked.valid) throw toError(checked.error)
  return {
    text,
    reads: variable => [...namesIn(first.ast, variable)],
    evaluate(values) {
      try {
        return toJson(parsed(toCel(values)))
      } catch (error) {
        throw toError(error)
      }
    },
  }
}

function parse(environment: Environment, text: string) {
  try {
    return environment.parse(text)
  } catch (error) {
    throw toError(error)
  }
}

/** Without the lines that show the expression: whoever tells it has its place. */
function toError(error: unknown): ExpressionError {
  if (error instanceof ExpressionError) return error
  const [problem = ''] = messageOf(error).split('\n')
  return new ExpressionError(problem, { cause: error })
}

/**
 * The library's own `matches` is that of JavaScript, for which a user's text may take years. Its name is replaced from the end
 * on, so that the places of those before it stay.
 */
function withLinearPatterns(text: string, root: ASTNode): string {
  const places: number[] = []
  visit(root, node => {
    if (node.op !== 'rcall' || node.args[0] !== 'matches') return
    const receiver: unknown = node.args[1]
    if (isNode(receiver)) places.push(text.indexOf('matches', receiver.end))
  })
  return places
    .toSorted((a, b) => b - a)
    .reduce((changed, at) => `${changed.slice(0, at)}matchesPattern${changed.slice(at + 'matches'.length)}`, text)
}

function matches(text: string, pattern: string): boolean {
  try {
    return compilePattern(pattern).test(text)
  } catch (error) {
    if (error instanceof PatternError) throw new ExpressionError(`a pattern ${error.message}`)
    throw error
  }
}

function namesIn(root: ASTNode, variable: string): ReadonlySet<string> {
  const names = new Set<string>()
  visit(root, node => {
    const [owner, name] = Array.isArray(node.args) ? node.args : []
    if (!isNode(owner) || owner.op !== 'id' || owner.args !== variable) return
    if (typeof name === 'string') names.add(name)
    else if (isNode(name) && name.op === 'value' && typeof name.args === 'string') names.add(name.args)
  })
  return names
}

function visit(node: unknown, look: (node: ASTNode) => void): void {
  if (Array.isArray(node)) for (const part of node) visit(part, look)
  if (!isNode(node)) return
  look(node)
  visit(node.args, look)
}

function isNode(value: unknown): value is ASTNode {
  return typeof value === 'object' && value !== null && 'op' in value && 'args' in value
}

/** Whole numbers are those of CEL, which counts with them: `parameters.size + 1`. */
function toCel(value: unknown): Record<string, unknown> {
  return convert(value, one => (typeof one === 'number' && Number.isSafeInteger(one) ? BigInt(one) : one)) as never
}

function toJson(value: unknown): Json {
  return convert(value, one => {
    if (typeof one === 'bigint') {
      if (one > Number.MAX_SAFE_INTEGER || one < Number.MIN_SAFE_INTEGER)
        throw new ExpressionError('a whole number is too large')
      return Number(one)
    }
    if (one instanceof Date) return one.toISOString()
    if (typeof one === 'number' && !Number.isFinite(one)) throw new ExpressionError('the result is not a number')
    if (one === null || ['string', 'number', 'boolean'].includes(typeof one)) return one
    throw new ExpressionError('the result is not a text, a number, true, false, null, a list or a map')
  }) as Json
}

function convert(value: unknown, scalar: (value: unknown) => unknown): unknown {
  if (Array.isArray(value)) return value.map(item => convert(item, scalar))
  if (value instanceof Map) return convert(Object.fromEntries(value), scalar)
  const isPlain =
    typeof value === 'object' && value !== null && [Object.prototype, null].includes(Object.getPrototypeOf(value))
  if (!isPlain) return scalar(value)
  const entries = Object.entries(value).filter(([, item]) => item !== undefined)
  return Object.fromEntries(entries.map(([key, item]) => [key, convert(item, scalar)]))
}
