import type { Exchange } from '../listen/exchange.ts'
import { isReady, type Readiness } from '../health/readiness.ts'
import { sendJson } from './json/write.ts'

/** The probes of an operator, by path. */
export type Probes = ReadonlyMap<string, (exchange: Exchange) => void | Promise<void>>

export function createProbes(readiness: Readiness): Probes {
  return new Map<string, (exchange: Exchange) => void | Promise<void>>([
    ['/healthz', (exchange) => sendJson(exchange, 200, '{"status":"ok"}')],
    [
      '/readyz',
      async (exchange) => {
        const { versions, drill, ...flaws } = await readiness.look()
        const present = Object.fromEntries(Object.entries(flaws).filter(([, some]) => Object.keys(some).length > 0))
        const isFlawless = Object.keys(present).length === 0
        const [http, status] = isFlawless
          ? [200, 'ok']
          : isReady(flaws.missing)
            ? [200, 'degraded']
            : [503, 'unavailable']
        sendJson(exchange, http, JSON.stringify({ status, ...(drill && { drill }), ...present, versions }))
      },
    ],
  ])
}
