/** The most messages that wait for each other. With more, the processes would work one after the other. */
const most = 32

let waiting: (() => void)[] = []

/**
 * Waits for the end of this tick of the event loop, or until enough others wait too; all waiters continue together.
 * Then the NATS client sends all their messages in one write. They arrive in one read and so share one transaction.
 */
export function endOfTick(): Promise<void> {
  return new Promise((resolve) => {
    if (waiting.length === 0) setImmediate(goOn)
    waiting.push(resolve)
    if (waiting.length === most) goOn()
  })
}

function goOn() {
  const all = waiting
  waiting = []
  for (const resolve of all) resolve()
}
