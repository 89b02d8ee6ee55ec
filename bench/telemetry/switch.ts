// A part of each service's bundle, as the bench makes it. SIGHUP switches the service's telemetry off, SIGUSR2 on
// again.
import { startMeasuring } from '#lib/telemetry/instruments'
import { telemetry } from '#lib/telemetry/telemetry'

type Meter = Parameters<typeof startMeasuring>[0]
let kept: typeof telemetry | undefined

process.on('SIGHUP', () => {
  kept ??= { ...telemetry }
  switchTo({ tracing: undefined, meter: undefined })
})
process.on('SIGUSR2', () => switchTo(kept ?? telemetry))

function switchTo(to: typeof telemetry) {
  Object.assign(telemetry, to)
  startMeasuring(to.meter as Meter)
}
