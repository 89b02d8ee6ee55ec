import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { Round, RoundResult } from './load.ts'

export interface Generator {
  pid: number
  run(round: Round): Promise<RoundResult>
  stop(): void
}

/** Starts the load generator's process. */
export function startGenerator(): Generator {
  const child = fork(fileURLToPath(new URL('./load.ts', import.meta.url)))
  return {
    pid: child.pid!,
    async run(round) {
      child.send(round)
      const ended = new AbortController()
      const [result] = (await Promise.race([
        once(child, 'message', { signal: ended.signal }),
        once(child, 'exit', { signal: ended.signal }).then(() => {
          throw new Error('the load generator ended')
        }),
      ])) as [RoundResult]
      ended.abort()
      return result
    },
    stop: () => void child.kill(),
  }
}
