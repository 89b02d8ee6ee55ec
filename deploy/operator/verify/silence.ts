/** Minutes without a sign of life. A statement ends after half a minute by itself. */
const minutes = 5

/** Nothing came from a service for too long. */
export class Silence extends Error {
  constructor() {
    super(`it was not read to its end: nothing came from it for ${minutes} minutes`)
  }
}

/**
 * Waits for work as long as it gives signs of life. Throws a Silence where none comes for too long. The work is then left
 * alone, and its next sign of life throws, too. `patience`: milliseconds.
 */
export async function whileAlive<T>(work: (alive: () => void) => Promise<T>, patience = minutes * 60_000): Promise<T> {
  const silence = Promise.withResolvers<never>()
  let isOver = false
  const timer = setTimeout(() => {
    isOver = true
    silence.reject(new Silence())
  }, patience)
  const alive = () => {
    if (isOver) throw new Silence()
    timer.refresh()
  }
  try {
    return await Promise.race([work(alive), silence.promise])
  } finally {
    clearTimeout(timer)
  }
}
