#!/bin/sh
# Run by the broker as: entrypoint.sh <action> --extra-vars <variables>
#
#   $BUNDLE_INPUT    a JSON file: action, instance, binding, plan, parameters, credentials
#   $BUNDLE_STATE    a folder with a file for each key that an earlier action has kept
#   $BUNDLE_OUTPUT   what this action leaves: credentials.json, state.json, progress, message
#
# Exit code 0: done. 8: there is no such action. 75: try again later. Another one: it failed, and
# $BUNDLE_OUTPUT/message tells the user why. An action may be run again after a crash: make it safe to repeat.
set -eu

action=$1

progress() { echo "$1" >>"$BUNDLE_OUTPUT/progress"; }

# Values are simple here. For anything else use jq, or another language.
parameter() { sed -n "s/.*\"parameters\":{[^}]*\"$1\":\"\([^\"]*\)\".*/\1/p" "$BUNDLE_INPUT"; }

random() { od -An -N16 -tx1 /dev/urandom | tr -d ' \n'; }

case $action in
  provision | update)
    progress 'choosing a greeting'
    printf '{"greeting": "%s"}\n' "$(parameter greeting)" >"$BUNDLE_OUTPUT/state.json"
    ;;
  bind)
    progress 'making a password'
    printf '{"greeting": "%s", "password": "%s"}\n' "$(cat "$BUNDLE_STATE/greeting")" "$(random)" \
      >"$BUNDLE_OUTPUT/credentials.json"
    ;;
  unbind | deprovision)
    progress 'nothing is left'
    ;;
  test)
    # Only "purser bundle run test" runs it. Each line is a result: 0 and what is right, or 1 and what is wrong.
    if [ "$(random | wc -c)" -eq 32 ]; then echo '0 passwords are long'; else echo '1 passwords are short'; fi \
      >>"$BUNDLE_OUTPUT/test-result"
    ;;
  *)
    exit 8
    ;;
esac
