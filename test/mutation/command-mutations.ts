/** The command: whom it gives credentials to, what it waits for, and where it shows a list. */
import type { Mutation } from './mutation.ts'

const profiles = { suite: ['test/cli/profiles.test.ts'] }
const completion = { suite: ['test/cli/completion.test.ts'] }
const pager = { suite: ['test/cli/pager.test.ts'], file: 'src/cli/pager.ts' }

export const commandMutations: readonly Mutation[] = [
  {
    ...profiles,
    file: 'src/cli/choose-broker.ts',
    name: 'two brokers may be named at once',
    find: "if (url !== undefined && profile !== undefined) throw excluded('--url and --profile', 'there are two brokers')",
    replace: '',
  },
  {
    ...profiles,
    file: 'src/cli/choose-broker.ts',
    name: 'the environment goes over the profile that a flag names',
    find: 'url ?? (profile === undefined ? PURSER_URL : undefined)',
    replace: 'url ?? PURSER_URL',
  },
  {
    ...profiles,
    file: 'src/cli/profiles.ts',
    name: 'a password command that fails shows what it printed',
    find: "password_command === undefined ? messageOf(error) : 'its password command failed'",
    replace: 'messageOf(error)',
  },
  {
    ...completion,
    file: 'src/cli/complete/live.ts',
    name: 'a completion tells its errors',
    find: '} catch {\n    return []\n  }',
    replace: '} catch (error) {\n    throw error\n  }',
  },
  {
    ...completion,
    file: 'src/cli/complete/candidates.ts',
    name: 'verbs of operators are offered names in place of ids',
    find: 'if (isOperators && (name === ',
    replace: 'if (!isOperators && (name === ',
  },
  {
    ...pager,
    name: 'a pager reads what goes into a pipe',
    find: 'stdin.isTTY === true && stdout.isTTY === true && ',
    replace: '',
  },
  {
    ...pager,
    name: 'what fits goes through a pager, too',
    find: "text.split('\\n').length <= rows",
    replace: 'false',
  },
  {
    ...pager,
    name: 'a list is lost where its pager is not there',
    find: 'code !== 126 && code !== 127',
    replace: 'true',
  },
  {
    suite: ['test/cli/sessions.test.ts'],
    file: 'src/cli/commands/sessions.ts',
    name: 'both one session and all of somebody may be ended',
    find: 'if ((id === undefined) === (principal === undefined))',
    replace: 'if (id === undefined && principal === undefined)',
  },
]
