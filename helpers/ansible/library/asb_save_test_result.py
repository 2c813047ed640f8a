#!/usr/bin/python
"""The result of a test, by a file. Runs on Python 2.7 and 3, and stands alone: Ansible copies it as it is."""

from __future__ import absolute_import, division, print_function

__metaclass__ = type

DOCUMENTATION = '''
---
module: asb_save_test_result
short_description: Says what a test has found
description:
  - For the action I(test). Each call is one result. The test has failed where one of them has.
options:
  fail:
    description: Whether it has failed.
    type: bool
    default: false
  msg:
    description: What was found; one line.
    type: str
'''

EXAMPLES = '''
- asb_save_test_result:
    msg: the database answers

- asb_save_test_result:
    fail: true
    msg: the database does not answer
'''

import os

from ansible.module_utils.basic import AnsibleModule


def main():
    module = AnsibleModule(
        argument_spec=dict(fail=dict(type='bool', default=False), msg=dict(type='str')), supports_check_mode=True)
    output = os.environ.get('BUNDLE_OUTPUT')
    if not output:
        module.fail_json(msg='BUNDLE_OUTPUT is not set: asb_save_test_result is for the actions of a bundle')
    text = module.params['msg'] or u''
    if not module.check_mode:
        words = (text if isinstance(text, type(u'')) else text.decode('utf-8')).split()
        line = u' '.join([u'1' if module.params['fail'] else u'0'] + words)
        with open(os.path.join(output, 'test-result'), 'ab') as file:
            file.write((line + u'\n').encode('utf-8'))
    module.exit_json(changed=True)


if __name__ == '__main__':
    main()
