/** Of Docker 29, which knows none before 1.44. Earlier engines, and Podman, have all that is asked of it here. */
const known = '1.52'

/** The version of the API to speak with an engine whose latest is this one. */
export function chooseVersion(latest: string): string {
  return isOlder(latest, known) ? latest : known
}

function isOlder(one: string, other: string): boolean {
  const [major = 0, minor = 0] = numbersOf(one)
  const [otherMajor = 0, otherMinor = 0] = numbersOf(other)
  return major === otherMajor ? minor < otherMinor : major < otherMajor
}

function numbersOf(version: string): readonly number[] {
  return version.split('.').map(Number)
}
