#!/bin/sh
# What the base image of such bundles does: the playbook of the action, with the broker's variables. The arguments are
# <action> --extra-vars @<file>. Playbooks and roles may be beside this file, or where such images have them.
set -eu
cd "$(dirname "$0")"
action=$1
shift
export LC_ALL=C.UTF-8 ANSIBLE_ROLES_PATH="$PWD/roles:${ANSIBLE_ROLES_PATH:-/etc/ansible/roles:/opt/ansible/roles}"
# Ansible takes the home of the user's entry in /etc/passwd, not $HOME: it may not be there.
export ANSIBLE_REMOTE_TMP="${TMPDIR:-/tmp}/ansible"
export ANSIBLE_LOCALHOST_WARNING=false ANSIBLE_INVENTORY_UNPARSED_WARNING=false ANSIBLE_RETRY_FILES_ENABLED=false

for folder in project actions playbooks /opt/apb/project /opt/apb/actions; do
  for playbook in "$folder/$action.yaml" "$folder/$action.yml"; do
    [ -f "$playbook" ] || continue
    code=0
    ansible-playbook "$playbook" "$@" || code=$?
    # To the broker 8 means that there is no such action; to Ansible, that a play was broken off.
    [ "$code" -ne 8 ] || code=1
    exit "$code"
  done
done
echo "there is no playbook for $action" >&2
exit 8
