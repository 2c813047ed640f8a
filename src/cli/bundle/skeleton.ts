import type { NewFile } from '../new-files.ts'

/** Everything that `purser bundle init` writes. It runs as it is, on any machine with a POSIX shell. */
export function bundleFiles(name: string): readonly NewFile[] {
  return [
    { path: 'bundle.yml', text: renderSpec(name) },
    { path: 'entrypoint.sh', text: entrypoint, executable: true },
    { path: '.gitignore', text: '.bundle-run.json\n' },
  ]
}

/** A name that may stand in an image's, made from the folder's. */
export function toBundleName(folder: string): string {
  const name = folder
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-+|-+$/g, '')
  return name === '' ? 'my-bundle' : name.slice(0, 40).replace(/-+$/, '')
}

function renderSpec(name: string): string {
  return `# What the catalog shows and what users may set. "purser bundle lint" checks it.
version: "1.0"
name: ${JSON.stringify(name)}
description: A password for each application, and a greeting
bundle_version: 0.1.0
bindable: true
async: optional
metadata:
  displayName: ${JSON.stringify(name)}

plans:
  - name: default
    description: All there is
    free: true
    parameters:
      - name: greeting
        title: What applications are greeted with
        type: string
        default: Hello
        max_length: 80
        pattern: ^[A-Za-z ,.!]+$
        updatable: true
`
}

const entrypoint = `#!/bin/sh
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
parameter() { sed -n "s/.*\\"parameters\\":{[^}]*\\"$1\\":\\"\\([^\\"]*\\)\\".*/\\1/p" "$BUNDLE_INPUT"; }

random() { od -An -N16 -tx1 /dev/urandom | tr -d ' \\n'; }

case $action in
  provision | update)
    progress 'choosing a greeting'
    printf '{"greeting": "%s"}\\n' "$(parameter greeting)" >"$BUNDLE_OUTPUT/state.json"
    ;;
  bind)
    progress 'making a password'
    printf '{"greeting": "%s", "password": "%s"}\\n' "$(cat "$BUNDLE_STATE/greeting")" "$(random)" \\
      >"$BUNDLE_OUTPUT/credentials.json"
    ;;
  unbind | deprovision)
    progress 'nothing is left'
    ;;
  *)
    exit 8
    ;;
esac
`
