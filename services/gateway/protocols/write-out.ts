import type { Writable } from 'node:stream'

/** Writes and waits until it has left, so that nothing piles up for who does not read. Throws once the signal is aborted. */
export async function writeOut(stream: Writable, data: Buffer | string, signal: AbortSignal): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  const giveUp = () => reject(new Error('nobody waits for it any more'))
  signal.addEventListener('abort', giveUp, { once: true })
  if (signal.aborted) giveUp()
  try {
    stream.write(data, (error) => (error ? reject(error) : resolve()))
    await promise
  } finally {
    signal.removeEventListener('abort', giveUp)
  }
}
