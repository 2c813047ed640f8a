/** Resolves with the first signal that asks this process to end; the second one ends it at once. */
export function untilStopped(): Promise<string> {
  return new Promise(resolve => {
    let stopping = false
    for (const signal of ['SIGINT', 'SIGTERM'] as const)
      process.on(signal, () => {
        if (stopping) process.exit(130)
        stopping = true
        resolve(signal)
      })
  })
}
