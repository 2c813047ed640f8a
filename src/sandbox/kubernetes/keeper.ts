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
/** Nobody writes to this pipe: reading from it with a time limit is a pause that needs no process. */
const never = '/run/keeper/never'

export const unpackScript = `cat ${packed}/* | gzip -d | tar -x -C ${input}`

/**
 * A signal to -1 reaches every process of the pod but the first one and the one that sends it. Times are in seconds, and whole.
 * Nothing that keeps a limit starts a process: a bundle that forks without end leaves room for none, and a shell that cannot fork
 * ends. The time begins when there is something to end: an image may be pulled for longer than its bundle may run.
 */
export const keeperScript = `trap '' TERM INT HUP
count() { set -- /proc/[0-9]*; processes=$#; }
now() { IFS=. read -r up rest < /proc/uptime; }
pause() { read -r -t 0.1 rest <&3; }
stop() {
  echo "stopped $1" > ${stopped}
  echo "stopped $1"
  kill -TERM -1
  left=$2
  while [ "$left" -gt 0 ] && count && [ "$processes" -gt "$own" ]; do left=$((left - 1)); pause; done
  kill -KILL -1
}
# The pod's first process, and this one.
own=2
if [ -s ${stopped} ]; then read -r line < ${stopped}; echo "$line"; kill -KILL -1; fi
end=
[ -s ${end} ] && read -r end < ${end}
over=
shown=
turn=0
[ -p ${never} ] || mkfifo ${never}
exec 3<> ${never}
cd ${output}
while :; do
  count
  now
  if [ -z "$end" ] && [ "$processes" -gt "$own" ]; then end=$((up + TIME)); echo "$end" > ${end}; fi
  if [ -s ${asked} ]; then read -r why grace < ${asked}; : > ${asked}; stop "$why" "$grace"
  elif [ -n "$PROCESSES" ] && [ "$processes" -gt $((PROCESSES + own + 2)) ]; then stop processes 0
  elif [ -z "$over" ] && [ -n "$end" ] && [ "$up" -ge "$end" ]; then over=yes; [ "$processes" -gt "$own" ] && stop time 50
  elif [ "$turn" = 0 ] && [ -f progress ] && [ ! -L progress ]; then
    size=$(stat -c %s progress)
    line="progress $size $(tail -c ${maxText} progress | base64 -w 0)"
    [ "$line" = "$shown" ] || echo "$line"
    shown=$line
  fi
  turn=$(((turn + 1) % 3))
  pause
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
