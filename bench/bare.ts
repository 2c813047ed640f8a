import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type Child, startChild } from './child.ts'
import { osbHeaders } from './requests.ts'

/** A status, headers and a body. */
export type Answer = readonly [number, Readonly<Record<string, string | number>>, string]

/** Bare node:http that sends these answers: by path, and `PUT` for every PUT. */
export async function startBare(folder: string, answers: Readonly<Record<string, Answer>>): Promise<Child> {
  // Too long for an argument, where a catalog is.
  const file = join(folder, 'answers.json')
  await writeFile(file, JSON.stringify(answers))
  return startChild('bare.mjs', [file])
}

/** What a broker answers, in the bytes that a bare server has to send too. */
export async function answerOf(url: string, request: RequestInit = {}): Promise<Answer> {
  const answer = await fetch(url, { ...request, headers: { ...osbHeaders, ...request.headers } })
  const body = await answer.text()
  const headers = Object.fromEntries([...answer.headers].filter(([name]) => !nodes.includes(name)))
  return [answer.status, headers, body]
}

/** What node:http adds by itself. */
const nodes = ['connection', 'date', 'keep-alive']
