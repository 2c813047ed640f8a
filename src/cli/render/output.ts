import { renderJson } from './json.ts'

/** `jsonl`: one line for each item of a list, and one for anything else. */
export type Output = 'text' | 'json' | 'jsonl' | 'none'

/** A result as `--output` says. */
export function render(result: object, text: string, output: Output): string {
  if (output === 'text') return text
  if (output === 'json') return renderJson(result)
  return output === 'none'
    ? ''
    : toItems(result)
        .map(item => `${JSON.stringify(item)}\n`)
        .join('')
}

function toItems(result: object): readonly unknown[] {
  return 'items' in result && Array.isArray(result.items) ? result.items : [result]
}
