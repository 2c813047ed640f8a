import { Composer, type Document, LineCounter, Parser } from 'yaml'
import { findTooDeep } from '../catalog/yaml-depth.ts'
import { deepProblem, SourceError } from './budget.ts'

export interface YamlDocuments {
  readonly documents: readonly Document.Parsed[]
  lineAt(offset: number): number
}

/** The documents of a text, aliases as they stand. */
export function parseDocuments(text: string): YamlDocuments {
  const lines = new LineCounter()
  const tokens = [...new Parser(lines.addNewLine).parse(text)]
  const lineAt = (offset: number) => lines.linePos(offset).line
  const deep = findTooDeep(tokens)
  if (deep !== undefined) throw new SourceError({ line: lineAt(deep.offset), problem: deepProblem })
  // YAML 1.2: an enum of Yes and No is one of texts, as bundles mean it. Keys are compared elsewhere: here each would be
  // compared with each, which takes minutes for a hostile file.
  const composer = new Composer({ prettyErrors: false, logLevel: 'error', uniqueKeys: false, version: '1.2' })
  const documents = [...composer.compose(tokens)]
  return { documents, lineAt }
}
