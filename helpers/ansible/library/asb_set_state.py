#!/usr/bin/python
"""State of an instance or a binding, by files. Runs on Python 2.7 and 3, and stands alone: Ansible copies it as it is."""

from __future__ import absolute_import, division, print_function

__metaclass__ = type

DOCUMENTATION = '''
---
module: asb_set_state
short_description: Keeps values from this action for the later ones
description:
  - Changes the state of the service instance, or of the binding. The broker keeps the change when the action succeeds.
options:
  fields:
    description: Keys and values. A value of null removes its key; lists and objects are kept as JSON, all others as text.
    type: dict
  scope:
    description: Whose state it is. Only the actions bind and unbind have one of the binding. Needs I(fields).
    choices: [instance, binding]
    default: instance
notes:
  - Without I(fields) every argument is a key of the state.
'''

EXAMPLES = '''
- asb_set_state:
    fields:
      database: "{{ database }}"
      host: null

- asb_set_state:
    database: "{{ database }}"
'''

import json
import os
import re

from ansible.module_utils import basic


def to_text(value):
    if value is None:
        return None
    if isinstance(value, (dict, list)):
        return json.dumps(value)
    return u'%s' % (value,)


def read(path):
    if not os.path.exists(path):
        return {}
    with open(path, 'rb') as file:
        return json.loads(file.read().decode('utf-8'))


def write(path, value):
    with open(path + '.new', 'wb') as file:
        file.write(json.dumps(value).encode('utf-8'))
    os.rename(path + '.new', path)


def main():
    names = [name for name in basic._load_params() if not name.startswith('_ansible_')]
    if 'fields' in names:
        spec = dict(
            fields=dict(type='dict', required=True, no_log=True),
            scope=dict(choices=['instance', 'binding'], default='instance'),
        )
    else:
        spec = dict((name, dict(type='raw', no_log=True)) for name in names)
    module = basic.AnsibleModule(argument_spec=spec, supports_check_mode=True)

    if 'fields' in names:
        fields, scope = module.params['fields'], module.params['scope']
    else:
        fields, scope = dict((name, module.params[name]) for name in names), 'instance'
    for key in fields:
        if not re.match(r'^(?!\.{1,2}$)[A-Za-z0-9._-]{1,253}$', u'%s' % (key,)):
            module.fail_json(
                msg='"%s" cannot be a key of the state: use letters, digits, dots, dashes and underscores' % (key,))
    output = os.environ.get('BUNDLE_OUTPUT')
    if not output:
        module.fail_json(msg='BUNDLE_OUTPUT is not set: asb_set_state is for the actions of a bundle')
    if scope == 'binding' and not os.environ.get('BUNDLE_BINDING_STATE'):
        module.fail_json(msg='only bind and unbind have a state of the binding: leave out "scope: binding"')

    path = os.path.join(output, 'binding_state.json' if scope == 'binding' else 'state.json')
    before = read(path)
    after = dict(before)
    after.update((u'%s' % (key,), to_text(value)) for key, value in fields.items())
    if after != before and not module.check_mode:
        write(path, after)
    module.exit_json(changed=after != before)


if __name__ == '__main__':
    main()
