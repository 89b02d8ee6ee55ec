import { freePort } from './ports.ts'
import type { Moved } from './servers.ts'
import { type ServiceName, usualMetricsPorts } from './service-environment.ts'

/** A free port for the metrics of each service, and which of them are not the usual ones. Nothing without Prometheus. */
export async function freeMetricsPorts(env: Record<string, string | undefined>) {
  const usual = usualMetricsPorts(env)
  if (!usual) return { moved: [] }
  const moved: Moved[] = []
  const metricsPorts = { ...usual }
  for (const name of Object.keys(usual) as ServiceName[]) {
    const port = await freePort(usual[name])
    if (port !== usual[name]) moved.push({ name: `the metrics of ${name}`, usual: usual[name], port })
    metricsPorts[name] = port
  }
  return { metricsPorts, moved: moved.filter(({ usual }) => usual !== 0) }
}
