/** What operators can do by hand, in the words of the pages. The broker decides whether it may be done. */
export interface Verb {
  readonly words: string
  readonly about: string
  readonly danger?: boolean
  /** The least role that may. */
  readonly role: 'operator' | 'admin'
}

export const operationVerbs = ['retry', 'release', 'run-now', 'hold', 'cancel', 'fail']
export const instanceVerbs = ['observe', 'move', 'abandon']

const verbs: Readonly<Record<string, Verb>> = {
  retry: {
    words: 'Try again',
    about: 'A new operation begins with the steps that were done. The result of this one stays as it is.',
    role: 'operator',
  },
  'run-now': { words: 'Run now', about: 'It does not wait for its next attempt.', role: 'operator' },
  cancel: {
    words: 'Cancel',
    about:
      'It stops and is undone, as a DELETE of the platform would do it. An update fails, and the instance stays as it was.',
    danger: true,
    role: 'operator',
  },
  fail: {
    words: 'Fail',
    about: 'It ends as failed, as soon as nobody works on it any more. The platform shows your text to its user.',
    danger: true,
    role: 'operator',
  },
  hold: {
    words: 'Hold',
    about: 'It stays in progress for the platform and waits for a decision.',
    role: 'operator',
  },
  release: { words: 'Release', about: 'It goes on from where it was held.', role: 'operator' },
  observe: {
    words: 'Look at it now',
    about: 'The service looks at how it is. Its conditions tell what was seen.',
    role: 'operator',
  },
  move: {
    words: 'Move to a revision',
    about:
      'Another revision of its service acts on the instance from then on. Nothing is run: what it has is what the old revision has made.',
    role: 'admin',
  },
  sweep: {
    words: 'Delete once more',
    about: 'The service deletes again what is deleted: for what a deletion has left behind.',
    role: 'operator',
  },
  abandon: {
    words: 'Abandon',
    about:
      'It counts as deleted without running anything of its author’s. What it stands for stays and may still cost money: the answer says what the broker knew of it.',
    danger: true,
    role: 'admin',
  },
}

export function verbOf(name: string): Verb {
  return verbs[name] ?? { words: name, about: '', role: 'admin' }
}

export function isOfInstances(verb: string): boolean {
  return instanceVerbs.includes(verb)
}
