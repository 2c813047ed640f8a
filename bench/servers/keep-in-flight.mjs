/** Answers each `{ inFlight, ms }` with how many runs a second ended, and what one took of this process's time. */
export function keepInFlight(run) {
  let n = 0
  process.on('message', async ({ inFlight, ms }) => {
    const started = performance.now()
    const cpu = process.cpuUsage()
    let done = 0
    const caller = async () => {
      while (performance.now() - started < ms) {
        await run(n++)
        done++
      }
    }
    await Promise.all(Array.from({ length: inFlight }, caller))
    const { user, system } = process.cpuUsage(cpu)
    process.send?.({ perSecond: (done * 1000) / (performance.now() - started), cpuUs: (user + system) / done })
  })
  process.send?.('ready')
}
