import { vi } from 'vitest'

// Vitest waits for a second by default. A machine whose processors are full needs longer for what is right.
const timeout = 20_000
const { waitFor } = vi
if (waitFor.name !== 'waitForLonger')
  vi.waitFor = function waitForLonger(callback, options = {}) {
    return waitFor(callback, typeof options === 'number' ? options : { timeout, ...options })
  }
