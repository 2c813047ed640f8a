"""State of an instance or a binding, by files. Runs on Python 2.7 and 3."""

from __future__ import absolute_import, division, print_function

__metaclass__ = type

DOCUMENTATION = '''
name: asb_state
short_description: What earlier actions, or this one, have kept with asb_set_state
options:
  _terms:
    description: Keys. One that is not there is an error.
  get_all:
    description: Without keys, everything as one dictionary.
    type: bool
    default: false
  scope:
    description: Whose state it is.
    choices: [instance, binding]
    default: instance
  rstrip:
    description: Whether white space at the end of a value is left out, as in the lookup "file".
    type: bool
    default: true
'''

EXAMPLES = '''
- debug: msg="{{ lookup('asb_state', 'database') }}"
- debug: msg="{{ lookup('asb_state', get_all=True).database | default('none') }}"
'''

import io
import json
import os

from ansible.errors import AnsibleError
from ansible.plugins.lookup import LookupBase


def read(path):
    with io.open(path, encoding='utf-8', newline='') as file:
        return file.read()


def read_all(folder, changes):
    """What is in the folder, with what this action has changed already."""
    state = {}
    for key in os.listdir(folder) if folder and os.path.isdir(folder) else []:
        path = os.path.join(folder, key)
        # A folder that Kubernetes mounts has others in it.
        if os.path.isfile(path):
            state[key] = read(path)
    if changes and os.path.exists(changes):
        for key, value in json.loads(read(changes)).items():
            if value is None:
                state.pop(key, None)
            else:
                state[key] = value if isinstance(value, type(u'')) else json.dumps(value)
    return state


class LookupModule(LookupBase):

    def run(self, terms, variables=None, **options):
        env = os.environ.get
        binding = options.get('scope') == 'binding'
        if binding:
            folder = env('BUNDLE_BINDING_STATE')
        else:
            folder = env('BUNDLE_STATE') or env('BUNDLE_STATE_LOCATION') or '/etc/apb/state'
        output = env('BUNDLE_OUTPUT')
        name = 'binding_state.json' if binding else 'state.json'
        state = read_all(folder, output and os.path.join(output, name))
        if options.get('rstrip', True):
            state = dict((key, value.rstrip()) for key, value in state.items())
        if not terms and options.get('get_all'):
            return [state]
        for term in terms:
            if term not in state:
                raise AnsibleError('the state has no key "%s": an earlier action has to set it' % (term,))
        return [state[term] for term in terms]
