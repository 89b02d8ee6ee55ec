import type { Server } from '@grpc/grpc-js'
import { HealthImplementation } from 'grpc-health-check'
import { offeredServices } from '../protocols/reflection.ts'
import { isReady } from './readiness.ts'

/**
 * Adds gRPC health of the whole server and each offered service. Gives the function that tells it which are missing.
 */
export function addHealth(server: Server): (missing: string[]) => void {
  const names = ['', ...offeredServices]
  const health = new HealthImplementation(Object.fromEntries(names.map((name) => [name, 'NOT_SERVING'])))
  health.addToServer(server)
  return (missing) => {
    for (const name of names) {
      const serves = isReady(missing) && !missing.includes(name.split('.')[1] ?? '')
      health.setStatus(name, serves ? 'SERVING' : 'NOT_SERVING')
    }
  }
}
