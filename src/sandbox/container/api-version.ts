/** Of Docker 25. Later engines keep it; earlier ones, and Podman, have all that is asked of it here. */
const known = '1.44'

/** The version of the API to speak with an engine that knows those from `oldest` to `newest`. */
export function chooseVersion(newest: string, oldest: string): string {
  if (isOlder(newest, known)) return newest
  return isOlder(known, oldest) ? oldest : known
}

function isOlder(one: string, other: string): boolean {
  const [major = 0, minor = 0] = numbersOf(one)
  const [otherMajor = 0, otherMinor = 0] = numbersOf(other)
  return major === otherMajor ? minor < otherMinor : major < otherMajor
}

function numbersOf(version: string): readonly number[] {
  return version.split('.').map(Number)
}
