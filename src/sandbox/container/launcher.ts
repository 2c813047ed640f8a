/**
 * Starts the entry point of a base image of the Automation Broker. It takes its third argument for JSON and knows no file. The
 * JSON may be secret, and arguments are not: the engine shows those of a container, and the machine those of a process. So the
 * entry point, a script, is read by its own shell, which was given the JSON as its third argument from the file. Whatever is no
 * script of a shell gets the file's name. The arguments are the entry point and the action.
 */
export function launcher(varsFile: string): readonly string[] {
  return ['/bin/sh', '-c', script, varsFile]
}

const script = `entry=$(command -v "$1") || entry=$1
IFS= read -r first < "$entry" 2> /dev/null
case $first in
'#!'*/bash* | '#!'*' bash'* | '#!'*/sh* | '#!'*' sh'*)
  exec \${first#??} -c 'set -- "$1" --extra-vars "$(cat "$2")"; . "$0"' "$entry" "$2" "$0" ;;
esac
exec "$entry" "$2" --extra-vars "@$0"`
