let end: Promise<void> | undefined

/**
 * Waits for the end of this turn of the event loop; all waiters continue together. Then the NATS client sends all their
 * messages in one write. They arrive in one read and so share one transaction.
 */
export function endOfTurn(): Promise<void> {
  return (end ??= new Promise((resolve) => {
    setImmediate(() => {
      end = undefined
      resolve()
    })
  }))
}
