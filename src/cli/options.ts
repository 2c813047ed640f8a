import { type Command, InvalidArgumentError, Option } from 'commander'
import { parseDuration } from '../shape/duration.ts'
import { messageOf, wrongUsage } from './cli-error.ts'

export function addConnectionOptions(command: Command): Command {
  return command
    .option('--url <url>', 'address of the broker (or PURSER_URL; default: http://127.0.0.1:8080)')
    .option('--user <name:password>', 'basic credentials (better: PURSER_USERNAME and PURSER_PASSWORD)')
    .option('--token <token>', 'a bearer token instead of --user')
    .option('--api-version <version>', 'OSB API version to announce', '2.17')
    .addOption(outputOption())
}

export function outputOption(): Option {
  return new Option('--output <format>', 'how to print the result').choices(['text', 'json']).default('text')
}

export function addWaitOptions(command: Command): Command {
  return command
    .option('--no-wait', 'do not wait for an asynchronous operation; purser status shows how it ends')
    .option('--sync', 'do not accept an asynchronous answer')
    .option('--timeout <duration>', "longest time to wait, such as 90s or 10m (default: the plan's limit, else 1h)")
}

export function addParameterOptions(command: Command): Command {
  return command
    .option('--param <key=value>', 'a parameter; JSON where it parses, else text; a.b=1 nests; repeatable', collect)
    .option('--params <json|@file>', 'all parameters as a JSON object; --param goes over it')
    .option('--context <json|@file>', "the platform's context as a JSON object")
}

/** For commands on an instance that exists. */
export function addLocateOptions(command: Command): Command {
  return command
    .option('--service <service>', "the instance's service, by name or id, where it is not known (see below)")
    .option('--plan <plan>', "the instance's plan, by name or id, where it is not known (see below)")
}

export const locateHelp = `
Service and plan of an instance are asked from the broker where it lets instances be fetched;
else they come from .purser/cli.json in the current folder, in which purser remembers the ids of
what it provisioned there (never parameters or credentials); else give --service and --plan.`

export function examples(...lines: readonly string[]): string {
  return `\nExamples:\n${lines.map(line => `  $ ${line}`).join('\n')}`
}

export function parsePort(text: string): number {
  const port = Number(text)
  if (/^\d+$/.test(text) && port <= 65_535) return port
  throw new InvalidArgumentError('A port is a number from 0 to 65535.')
}

/** Milliseconds of --timeout. */
export function readTimeout(timeout: string): number {
  try {
    return parseDuration(timeout)
  } catch (error) {
    throw wrongUsage({
      what: '--timeout is not a duration',
      why: messageOf(error),
      next: 'Write a number and a unit, as in 90s, 10m or 2h.',
    })
  }
}

/** For an option that may be given several times. */
export function collect(value: string, before: readonly string[] = []): readonly string[] {
  return [...before, value]
}
