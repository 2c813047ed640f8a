#!/bin/sh
# Run by the broker as: entrypoint.sh <action> --extra-vars <variables>. Runs playbooks/<action>.yml with these variables.
#
# Exit code 0: done. 8: there is no such action. 75: try again later. Another one: it failed, and
# $BUNDLE_OUTPUT/message tells the user why. An action may be run again after a crash: make it safe to repeat.
set -eu
cd "$(dirname "$0")"
action=$1
shift
playbook=playbooks/$action.yml
[ -f "$playbook" ] || exit 8

export LC_ALL=C.UTF-8 ANSIBLE_ROLES_PATH="$PWD/roles:${ANSIBLE_ROLES_PATH-}"
export ANSIBLE_LOCALHOST_WARNING=false ANSIBLE_INVENTORY_UNPARSED_WARNING=false
code=0
ansible-playbook "$playbook" "$@" || code=$?
# To the broker 8 means that there is no such action; to Ansible, that a play was broken off.
[ "$code" -ne 8 ] || code=1
exit "$code"
