import type { Server } from '@grpc/grpc-js'
import { HealthImplementation } from 'grpc-health-check'
import { byGrpcPath } from '../call/routes.ts'
import { translationOf } from '../../../compat/zitadel/translation/compatible-methods.ts'
import { isReady } from './readiness.ts'

/**
 * Adds gRPC health of the whole server and each service that it answers. Gives the function that sets it by
 * the services behind the gateway that are missing.
 */
export function addHealth(server: Server): (missing: string[]) => void {
  const behind = new Map([['', new Set<string>()]])
  for (const method of byGrpcPath.values()) {
    const name = method.desc.parent.typeName
    const { subject } = translationOf(method)?.usual.method ?? method
    behind.set(name, (behind.get(name) ?? new Set()).add(subject.split('.')[1]!))
  }
  const health = new HealthImplementation(Object.fromEntries([...behind.keys()].map((name) => [name, 'NOT_SERVING'])))
  health.addToServer(server)
  return (missing) => {
    for (const [name, services] of behind) {
      const serves = isReady(missing) && !missing.some((service) => services.has(service))
      health.setStatus(name, serves ? 'SERVING' : 'NOT_SERVING')
    }
  }
}
