import { describe, expect, it } from 'vitest'
import { type CommandHelp, readHelp } from './help.ts'
import { blocksOf, pages, readPage } from './pages.ts'
import { commandsOf, purserArguments } from './shell.ts'

const commands = await readHelp()
const firstWords = new Set([...commands.keys()].map(name => name.split(' ')[0] ?? ''))
const written = pages.flatMap(page => blocksOf(page).flatMap(commandsIn))

describe('commands in documents', () => {
  it('are found', () => {
    expect(written.length).toBeGreaterThan(15)
    expect(new Set(written.map(({ args }) => args[0]))).toEqual(new Set([...firstWords, 'help']))
  })

  it.each(written)('$where: purser $text', ({ args }) => {
    expect(problemOf(args)).toBeUndefined()
  })

  it.each(pages)('%s names no other command in its text', page => {
    const named = [...readPage(page).matchAll(/`(?:npx )?purser ([a-z][a-z-]*)/g)].map(match => match[1] ?? '')
    expect(named.filter(name => name !== 'help' && !firstWords.has(name))).toEqual([])
  })

  it.each([
    [['provison', 'a', 'b'], 'there is no command provison'],
    [['catalog', '--outptu', 'json'], 'catalog has no option --outptu'],
    [['provision', 'postgres'], 'provision takes 2 to 2 arguments, not 1'],
    [['bind', 'db', '--id'], '--id needs a value'],
    [['chores', 'run'], 'chores run takes 1 to 1 arguments, not 0'],
    [['chores', 'walk'], 'there is no command chores'],
  ])('would be refused: %j', (args, problem) => {
    expect(problemOf(args)).toBe(problem)
  })
})

function commandsIn(block: ReturnType<typeof blocksOf>[number]) {
  if (block.language !== 'sh' && block.language !== 'console') return []
  const lines = block.text.split('\n').filter(line => block.language === 'sh' || line.startsWith('$ '))
  return lines.flatMap(line =>
    commandsOf(line.replace(/^\$ /, '')).flatMap(command => {
      const args = purserArguments(command)
      return args === undefined ? [] : [{ where: `${block.page}:${block.line}`, text: args.join(' '), args }]
    }),
  )
}

function problemOf(words: readonly string[]): string | undefined {
  const [first = '', second = ''] = words
  if (first === 'help') return firstWords.has(second) ? undefined : `there is no command ${second}`
  const name = [`${first} ${second}`, first].find(candidate => commands.has(candidate))
  const help = name === undefined ? undefined : commands.get(name)
  if (name === undefined || help === undefined) return `there is no command ${first}`
  return problemWith(name, help, words.slice(name.split(' ').length))
}

function problemWith(name: string, help: CommandHelp, words: string[]): string | undefined {
  let count = 0
  for (let word = words.shift(); word !== undefined; word = words.shift()) {
    if (!word.startsWith('--')) {
      count += 1
      continue
    }
    const long = [...help.options.keys()].map(option => option.replace(/^-\w, /, ''))
    const flag = long.find(option => option.split(' ')[0] === word)
    if (flag === undefined) return `${name} has no option ${word}`
    if (flag.includes(' ') && words.shift() === undefined) return `${word} needs a value`
  }
  const { minArguments, maxArguments } = help
  if (count >= minArguments && count <= maxArguments) return undefined
  return `${name} takes ${minArguments} to ${maxArguments} arguments, not ${count}`
}
