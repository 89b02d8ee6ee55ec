import type { Server } from '@grpc/grpc-js'
import { HealthImplementation } from 'grpc-health-check'
import { offeredServices } from './reflection.ts'

/** Adds the health service, for the server as a whole and for each offered service; gives what sets their state. */
export function addHealth(server: Server): (ready: boolean) => void {
  const names = ['', ...offeredServices]
  const health = new HealthImplementation(Object.fromEntries(names.map((name) => [name, 'NOT_SERVING'])))
  health.addToServer(server)
  return (ready) => {
    for (const name of names) health.setStatus(name, ready ? 'SERVING' : 'NOT_SERVING')
  }
}
