#!/usr/bin/python
"""The address of a dashboard, by a file. Runs on Python 2.7 and 3, and stands alone: Ansible copies it as it is."""

from __future__ import absolute_import, division, print_function

__metaclass__ = type

DOCUMENTATION = '''
---
module: asb_dashboard_url
short_description: Says where the dashboard of the instance is
options:
  dashboard_url:
    description: A web address; http where it does not say so.
    type: str
    required: true
'''

EXAMPLES = '''
- asb_dashboard_url:
    dashboard_url: https://db.example.com/admin
'''

import os
import re

from ansible.module_utils.basic import AnsibleModule


def main():
    module = AnsibleModule(
        argument_spec=dict(dashboard_url=dict(type='str', required=True)), supports_check_mode=True)
    output = os.environ.get('BUNDLE_OUTPUT')
    if not output:
        module.fail_json(msg='BUNDLE_OUTPUT is not set: asb_dashboard_url is for the actions of a bundle')
    url = module.params['dashboard_url'].strip()
    if not re.match(r'^[a-z]+://', url):
        url = 'http://' + url
    if not module.check_mode:
        with open(os.path.join(output, 'dashboard_url'), 'wb') as file:
            file.write(url if isinstance(url, bytes) else url.encode('utf-8'))
    module.exit_json(changed=True, dashboard_url=url)


if __name__ == '__main__':
    main()
