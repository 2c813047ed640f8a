#!/usr/bin/python
"""Progress, by a file. Runs on Python 2.7 and 3, and stands alone: Ansible copies it as it is."""

from __future__ import absolute_import, division, print_function

__metaclass__ = type

DOCUMENTATION = '''
---
module: asb_last_operation
short_description: Says how far the action is
description:
  - The text is what users see as the description of the operation while they wait.
options:
  description:
    description: One line.
    type: str
    required: true
'''

EXAMPLES = '''
- asb_last_operation:
    description: "10%: creating the database"
'''

import os

from ansible.module_utils.basic import AnsibleModule


def main():
    module = AnsibleModule(
        argument_spec=dict(description=dict(type='str', required=True)), supports_check_mode=True)
    output = os.environ.get('BUNDLE_OUTPUT')
    if not output:
        module.fail_json(msg='BUNDLE_OUTPUT is not set: asb_last_operation is for the actions of a bundle')
    text = module.params['description']
    if not module.check_mode:
        line = u'%s\n' % u' '.join((text if isinstance(text, type(u'')) else text.decode('utf-8')).split())
        with open(os.path.join(output, 'progress'), 'ab') as file:
            file.write(line.encode('utf-8'))
    module.exit_json(changed=True, last_operation=text)


if __name__ == '__main__':
    main()
