#!/bin/sh
# What the base image of such bundles does: the playbook of the action, with the broker's variables. The arguments are
# <action> --extra-vars @<file>.
set -eu
cd "$(dirname "$0")"
action=$1
shift
export LC_ALL=C.UTF-8 ANSIBLE_ROLES_PATH="$PWD/roles${ANSIBLE_ROLES_PATH:+:$ANSIBLE_ROLES_PATH}"
# Ansible takes the home of the user's entry in /etc/passwd, not $HOME: it may not be there.
export ANSIBLE_REMOTE_TMP="${TMPDIR:-/tmp}/ansible"
export ANSIBLE_LOCALHOST_WARNING=false ANSIBLE_INVENTORY_UNPARSED_WARNING=false ANSIBLE_RETRY_FILES_ENABLED=false

for playbook in "project/$action.yaml" "project/$action.yml" "playbooks/$action.yaml" "playbooks/$action.yml"; do
  [ -f "$playbook" ] || continue
  code=0
  ansible-playbook "$playbook" "$@" || code=$?
  # To the broker 8 means that there is no such action; to Ansible, that a play was broken off.
  [ "$code" -ne 8 ] || code=1
  exit "$code"
done
echo "there is no playbook for $action" >&2
exit 8
