import { describe, expect, it } from 'vitest'
import { type CommandHelp, readHelp } from './help.ts'
import { blocksOf, pages, readPage } from './pages.ts'
import { commandsOf, purserArguments } from './shell.ts'

const commands = await readHelp()
const written = pages.flatMap(page => blocksOf(page).flatMap(commandsIn))

describe('commands in documents', () => {
  it('are found', () => {
    expect(written.length).toBeGreaterThan(15)
    expect(new Set(written.map(({ args }) => args[0]))).toEqual(new Set([...commands.keys(), 'help']))
  })

  it.each(written)('$where: purser $text', ({ args }) => {
    expect(problemOf(args)).toBeUndefined()
  })

  it.each(pages)('%s names no other command in its text', page => {
    const named = [...readPage(page).matchAll(/`(?:npx )?purser ([a-z][a-z-]*)/g)].map(match => match[1] ?? '')
    expect(named.filter(name => name !== 'help' && !commands.has(name))).toEqual([])
  })

  it.each([
    [['provison', 'a', 'b'], 'there is no command provison'],
    [['catalog', '--outptu', 'json'], 'catalog has no option --outptu'],
    [['provision', 'postgres'], 'provision takes 2 to 2 arguments, not 1'],
    [['bind', 'db', '--id'], '--id needs a value'],
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

function problemOf([name = '', ...rest]: readonly string[]): string | undefined {
  if (name === 'help') return rest.every(word => commands.has(word)) ? undefined : `there is no command ${rest[0]}`
  const help = commands.get(name)
  return help === undefined ? `there is no command ${name}` : problemWith(name, help, [...rest])
}

function problemWith(name: string, help: CommandHelp, words: string[]): string | undefined {
  let count = 0
  for (let word = words.shift(); word !== undefined; word = words.shift()) {
    if (!word.startsWith('--')) {
      count += 1
      continue
    }
    const flag = [...help.options.keys()].find(option => option.split(' ')[0] === word)
    if (flag === undefined) return `${name} has no option ${word}`
    if (flag.includes(' ') && words.shift() === undefined) return `${word} needs a value`
  }
  const { minArguments, maxArguments } = help
  if (count >= minArguments && count <= maxArguments) return undefined
  return `${name} takes ${minArguments} to ${maxArguments} arguments, not ${count}`
}
