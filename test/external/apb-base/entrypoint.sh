#!/bin/bash
# The entry point of the Automation Broker's base image, written after its contract: <action> <flag> <variables as JSON>.
# Nothing here knows of a file with variables, and all of it is as careless with white space as the original.
if [ "$#" -lt 3 ]; then
  echo "usage: entrypoint.sh ACTION FLAG JSON"
  exit 1
fi
action=$1
base=/opt/apb

if ! whoami > /dev/null 2>&1 && [ -w /etc/passwd ]; then
  echo "apb:x:$(id -u):0:apb user:$HOME:/sbin/nologin" >> /etc/passwd
fi

secrets=$(ls /etc/apb-secrets)
if [ -n "$secrets" ]; then
  echo '---' > $base/env/passwords
  for secret in $secrets; do
    for key in $(ls "/etc/apb-secrets/$secret/..data"); do
      echo "$key: $(cat "/etc/apb-secrets/$secret/..data/$key")" >> $base/env/passwords
    done
  done
fi
echo $3 > $base/env/extravars

if [ ! -d $base/project ]; then
  mkdir -p $base/project
  cp $base/actions/* $base/project
fi
for playbook in "$action.yaml" "$action.yml"; do
  [ -e "$base/project/$playbook" ] || continue
  ansible-runner run --ident "$action" --playbook "$playbook" $base
  exit "$(cat "$base/artifacts/$action/rc")"
done
echo "'$action' is not implemented"
exit 8
