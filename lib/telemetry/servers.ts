import { gauge } from './instruments.ts'
import { lookOften } from './look-often.ts'

/** Milliseconds after which a server without an answer counts as not reachable. */
const patience = 3000

const reachable = gauge({
  name: 'roster.server.reachable',
  unit: '1',
  description: '1 while the process gets answers from this server, 0 while it does not',
  labels: { 'roster.server': ['postgres', 'nats', 'redis'] },
})

/** Watches whether a server answers `ask`. One watch of a server counts in a process: the last one. */
export function watchServer(server: 'postgres' | 'nats' | 'redis', ask: () => Promise<void>): { stop(): void } {
  let answers: boolean | undefined
  let askedAt = Infinity
  const looking = lookOften(async () => {
    askedAt = performance.now()
    try {
      await ask()
      answers = true
    } catch {
      answers = false
    } finally {
      askedAt = Infinity
    }
  })
  const unwatch = reachable.watch(() => {
    if (performance.now() - askedAt > patience) return 0
    return answers === undefined ? undefined : Number(answers)
  }, server)
  return {
    stop() {
      looking.stop()
      unwatch()
    },
  }
}
