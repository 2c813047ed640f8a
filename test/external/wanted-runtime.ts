/**
 * Why the tests of a runtime cannot run here; undefined where they can. RUNTIMES (`process,container,docker`) names those
 * that must be tested: one that is named and not to be had is a failure, one that is not named is left out. Without
 * RUNTIMES every runtime is tested that is to be had. `container` stands for Podman, `docker` for the same on Docker.
 */
export function whyNotRuntime(runtime: string, findMissing: () => string | undefined): string | undefined {
  const named = process.env.RUNTIMES?.split(',').map(name => name.trim())
  if (named !== undefined && !named.includes(runtime)) return `RUNTIMES is ${process.env.RUNTIMES}`
  const missing = findMissing()
  if (missing !== undefined && named !== undefined) throw new Error(missing)
  return missing
}
