import type { Writable } from 'node:stream'

/**
 * Writes, and waits until the data has left: nothing piles up for a client that does not read. Throws once the signal
 * is aborted.
 */
export async function writeOut(stream: Writable, data: Buffer | string, signal: AbortSignal): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  const giveUp = () => reject(new Error('the client does not wait any more'))
  signal.addEventListener('abort', giveUp, { once: true })
  if (signal.aborted) giveUp()
  try {
    stream.write(data, (error) => (error ? reject(error) : resolve()))
    await promise
  } finally {
    signal.removeEventListener('abort', giveUp)
  }
}
