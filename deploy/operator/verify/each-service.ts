import type { StoringService } from '../../provision.ts'
import { Refusal } from '../refusal.ts'
import { isOfService, problemOf } from './is-of-service.ts'
import type { Finding } from './finding.ts'

/**
 * Looks at one service after the other. Whoever holds one must not hinder that the others are looked at, so whatever is
 * thrown is a finding of that service. Throws where no service can be reached.
 */
export async function eachService(
  services: readonly StoringService[],
  row: string,
  look: (service: StoringService) => Promise<void>,
  report: (found: Finding[]) => Promise<void>,
): Promise<void> {
  const lost: { service: StoringService; error: unknown }[] = []
  for (const service of services)
    try {
      await look(service)
    } catch (error) {
      if (error instanceof Refusal) throw error
      if (isOfService(error))
        await report([{ service, row, problem: problemOf(error, 'it cannot be read to its end') }])
      else lost.push({ service, error })
    }
  if (lost.length > 0 && lost.length === services.length) throw lost[0]!.error
  await report(lost.map(({ service }) => ({ service, row, problem: 'the connection ended before it was read' })))
}
