#!/usr/bin/python
"""Credentials, by a file. Runs on Python 2.7 and 3, and stands alone: Ansible copies it as it is."""

from __future__ import absolute_import, division, print_function

__metaclass__ = type

DOCUMENTATION = '''
---
module: asb_encode_binding
short_description: Gives out credentials
description:
  - The fields become the credentials of the binding, or, from a provision, of every binding without its own.
  - A second call in the same action adds its fields to those of the first.
options:
  fields:
    description: Keys and values; any that JSON knows.
    type: dict
    required: true
'''

EXAMPLES = '''
- asb_encode_binding:
    fields:
      DB_HOST: db.example.com
      DB_PORT: 5432
      DB_PASSWORD: "{{ password }}"
'''

import json
import os

from ansible.module_utils.basic import AnsibleModule


def main():
    module = AnsibleModule(
        argument_spec=dict(fields=dict(type='dict', required=True, no_log=True)), supports_check_mode=True)
    output = os.environ.get('BUNDLE_OUTPUT')
    if not output:
        module.fail_json(msg='BUNDLE_OUTPUT is not set: asb_encode_binding is for the actions of a bundle')
    path = os.path.join(output, 'credentials.json')
    credentials = {}
    if os.path.exists(path):
        with open(path, 'rb') as file:
            credentials = json.loads(file.read().decode('utf-8'))
    credentials.update(module.params['fields'])
    if not module.check_mode:
        with open(path + '.new', 'wb') as file:
            file.write(json.dumps(credentials).encode('utf-8'))
        os.rename(path + '.new', path)
    module.exit_json(changed=True)


if __name__ == '__main__':
    main()
