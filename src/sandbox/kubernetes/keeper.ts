/**
 * A pod has a program of ours beside the bundle's, the keeper, a script for busybox. It keeps the time and the number of
 * processes while no broker looks, ends the bundle when a broker asks for it, tells its progress, and stays when the bundle has
 * ended, so that what it left can be read. The two share processes and a user, nothing else. A bundle can end it, and a node may
 * fail to start it: then it is started again. Another program unpacks the inputs before the bundle starts, where they are long.
 */
import { placesInside } from '../container/to-container.ts'
import { terminationLog } from '../folders.ts'
import { maxJson, maxText } from '../outputs.ts'

const { input, output } = placesInside

/** Where the parts of the packed inputs are. */
export const packed = '/run/packed'
const asked = '/run/keeper/asked'
/** What a keeper that is started again has to know: when the time is over, and why it has ended the bundle. */
const [end, stopped] = ['/run/keeper/end', '/run/keeper/stopped']

export const unpackScript = `cat ${packed}/* | gzip -d | tar -x -C ${input}`

/**
 * A signal to -1 reaches every process of the pod but the first one and the one that sends it. Times are in seconds, and whole.
 */
export const keeperScript = `trap '' TERM INT HUP
note() { echo "$2" > "$1.new" && mv "$1.new" "$1"; }
stop() {
  note ${stopped} "stopped $1"
  cat ${stopped}
  kill -TERM -1
  left=$2
  while [ "$left" -gt 0 ] && [ "$(count)" -gt "$own" ]; do left=$((left - 1)); sleep 0.1; done
  kill -KILL -1
}
count() { set -- /proc/[0-9]*; echo $#; }
now() { IFS=. read -r up rest < /proc/uptime; echo "$up"; }
# The pod's first process, this one, and what it starts to look.
own=3
if [ -f ${stopped} ]; then cat ${stopped}; kill -KILL -1; fi
[ -f ${end} ] || note ${end} $(($(now) + TIME))
read -r end < ${end}
shown=
cd ${output}
while :; do
  if [ -f ${asked} ]; then read -r why grace < ${asked}; rm ${asked}; stop "$why" "$grace"
  elif [ -n "$PROCESSES" ] && [ "$(count)" -gt $((PROCESSES + own + 2)) ]; then stop processes 0
  elif [ -n "$end" ] && [ "$(now)" -ge "$end" ]; then end=; [ "$(count)" -gt "$own" ] && stop time 50
  fi
  if [ -f progress ] && [ ! -L progress ]; then
    size=$(stat -c %s progress)
    line="progress $size $(tail -c ${maxText} progress | base64 -w 0)"
    [ "$line" = "$shown" ] || echo "$line"
    shown=$line
  fi
  sleep 0.3
done`

/** Asks the keeper to end the bundle. The first reason is the one that counts: when it is served there is nothing left to end. */
export function askScript(why: string, graceMs: number): string {
  return `echo "${why} ${Math.ceil(graceMs / 100)}" > ${asked}.new && mv ${asked}.new ${asked}`
}

/** What is there of these files, one line each: its name, what it is, how long, and its end. */
export function readScript(names: Readonly<Record<string, number>>): string {
  const reads = Object.entries(names).map(([name, most]) => `show ${name} ${most}`)
  return `show() {
  if [ -L "$1" ]; then echo "$1 link"
  elif [ ! -e "$1" ]; then return 0
  elif [ ! -f "$1" ] || [ "$(stat -c %h "$1")" != 1 ]; then echo "$1 other"
  elif [ ! -r "$1" ]; then echo "$1 closed"
  else echo "$1 file $(stat -c %s "$1") $(tail -c "$2" "$1" | base64 -w 0)"
  fi
}
cd ${output} || exit 3
${reads.join('\n')}`
}

/** The files that a bundle leaves, and how much of each is read. */
export const outputFiles: Readonly<Record<string, number>> = {
  'credentials.json': maxJson,
  'state.json': maxJson,
  'binding_state.json': maxJson,
  dashboard_url: maxText,
  message: maxText,
  [terminationLog]: maxText,
  progress: maxText,
  'test-result': maxJson,
}
