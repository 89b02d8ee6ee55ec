import { killNow } from './pid-files.ts'

/**
 * Stops in order at the first SIGINT, SIGTERM or SIGHUP, and when the parent that asked to be watched is gone. At a
 * second signal it kills at once the processes that the run folder's pid files name.
 */
export function onSignals(options: { stop: () => Promise<void>; runDir: string }): void {
  let first: number | undefined
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
    process.on(signal, () => receive(signal === 'SIGINT' ? 130 : 143))
  watchParent(() => receive(143))

  function receive(exitCode: number): void {
    if (first === undefined) {
      first = Date.now()
      void options.stop().then(
        // A stop that was asked for and went well is no failure for npm to report.
        () => process.exit(0),
        (error: unknown) => {
          console.error(error)
          killNow(options.runDir)
          process.exit(1)
        },
      )
      return
    }
    // One Ctrl-C may come twice: from the terminal, and passed on by npm.
    if (Date.now() - first < 500) return
    killNow(options.runDir)
    process.exit(exitCode)
  }
}

function watchParent(gone: () => void): void {
  const parent = Number(process.env['ROSTER_BOOTSTRAP_PID'] ?? 0)
  if (parent !== process.ppid) return
  const timer = setInterval(() => {
    if (process.ppid === parent) return
    clearInterval(timer)
    gone()
  }, 500)
  timer.unref()
}
