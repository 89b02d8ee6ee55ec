let end: Promise<void> | undefined

/**
 * Waits for the end of this turn of the event loop, together with all others that do. What the NATS client is given at once
 * leaves in one write, arrives in one read and so becomes one transaction.
 */
export function endOfTurn(): Promise<void> {
  return (end ??= new Promise((resolve) => {
    setImmediate(() => {
      end = undefined
      resolve()
    })
  }))
}
