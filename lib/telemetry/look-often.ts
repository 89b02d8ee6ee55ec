import { measures } from './instruments.ts'

/** Milliseconds between two looks at what cannot be read at once, such as a queue in Redis. */
const lookEvery = 2000

/** Looks again and again while anybody reads metrics, never twice at a time. A look that fails is none. */
export function lookOften(look: () => Promise<void> | void, every = lookEvery): { stop(): void } {
  if (!measures()) return { stop() {} }
  let busy = false
  const once = async () => {
    if (busy) return
    busy = true
    try {
      await look()
    } catch {
      // Who looks says what a failure means.
    } finally {
      busy = false
    }
  }
  const timer = setInterval(() => void once(), every).unref()
  void once()
  return { stop: () => clearInterval(timer) }
}
