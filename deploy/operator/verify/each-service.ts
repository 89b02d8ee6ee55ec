import type { StoringService } from '../../provision.ts'
import { Refusal } from '../refusal.ts'
import { isOfService, problemOf } from './is-of-service.ts'
import type { Finding } from './finding.ts'
import { whileAlive } from './silence.ts'

/**
 * Looks at the services side by side. Whoever holds one must not hinder that the others are looked at, nor have them wait.
 * So whatever is thrown is a finding of that service, and also if its look gives no sign of life for minutes, by `alive`. Throws where
 * no service can be reached. `patience`: as in `whileAlive`.
 */
export async function eachService(
  services: readonly StoringService[],
  row: string,
  look: (service: StoringService, alive: () => void) => Promise<void>,
  report: (found: Finding[]) => Promise<void>,
  patience?: number,
): Promise<void> {
  const lost: { service: StoringService; error: unknown }[] = []
  const lookAt = async (service: StoringService) => {
    try {
      await whileAlive((alive) => look(service, alive), patience)
    } catch (error) {
      if (error instanceof Refusal) throw error
      if (isOfService(error))
        await report([{ service, row, problem: problemOf(error, 'it cannot be read to its end') }])
      else lost.push({ service, error })
    }
  }
  await Promise.all(services.map(lookAt))
  if (lost.length > 0 && lost.length === services.length) throw lost[0]!.error
  await report(lost.map(({ service }) => ({ service, row, problem: 'the connection ended before it was read' })))
}
