/** Does the work now and every so many milliseconds, never twice at a time. `stop` waits for work under way. */
export function repeatedly(
  every: number,
  work: () => Promise<void>,
  failed: (error: unknown) => void,
): { stop(): Promise<void> } {
  let underWay = Promise.resolve()
  const run = () => void (underWay = underWay.then(work).catch(failed))
  const timer = setInterval(run, every)
  run()
  return {
    async stop() {
      clearInterval(timer)
      await underWay
    },
  }
}
