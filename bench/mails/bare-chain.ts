import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { System } from '../system.ts'
import type { BareMails } from './bare.ts'
import { type Rate, rateOf } from './rate.ts'
import type { Sink } from './sink.ts'

/** As many as a notifier has by default. */
const places = 20
const jobs = 80

export interface BareMailChain {
  /**
   * Sends so many mails of the size of Roster's last one, over the same Redis and to the same mail server; or, if not
   * queued, through the pool of connections alone.
   */
  measure(count: number, how: 'queued' | 'alone'): Promise<Rate>
  stop(): void
}

export function startBareMailChain({ pids, servers }: System, sink: Sink): BareMailChain {
  const child = fork(fileURLToPath(new URL('./bare.ts', import.meta.url)))
  return {
    async measure(count, how) {
      const arrivals: number[] = []
      const { onMail } = sink
      sink.onMail = () => void arrivals.push(performance.now())
      const asked: BareMails = {
        smtpUrl: sink.url,
        redisUrl: how === 'queued' ? servers.redisUrl : undefined,
        recipients: Array.from({ length: count }, (_, n) => `bare-${n}@example.com`),
        mail: textOf(sink.lastSize),
        places,
        jobs,
      }
      const measured = rateOf(how === 'queued' ? { redis: pids['redis']![0]! } : {})
      child.send(asked)
      const [sender] = (await once(child, 'message')) as [number]
      sink.onMail = onMail
      return measured(arrivals, { notifier: sender })
    },
    stop: () => void child.kill(),
  }
}

// Roster's mails have lines of this length, too.
function textOf(size: number): string {
  const line = `${'x'.repeat(74)}\r\n`
  const head = 'Subject: bare\r\n\r\n'
  return head + line.repeat(Math.max(1, Math.round((size - head.length) / line.length)))
}
