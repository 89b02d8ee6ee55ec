import { storingServices, type StoringService } from '../deploy/provision.ts'
import type { Output } from './output.ts'
import { Refusal } from './refusal.ts'

/** The services that the arguments name; all of them without arguments. */
export function readServices(args: string[]): readonly StoringService[] {
  if (args.length === 0) return storingServices
  return args.map((name) => {
    const service = storingServices.find((known) => known === name)
    if (!service) throw new Refusal(`${name} is no service with events: ${storingServices.join(', ')}.`)
    return service
  })
}

/**
 * Works on services side by side. Where one cannot be worked on, the output names it with the reason, and the others go
 * on. Returns whether all were worked on. Throws where none was, as without a server.
 */
export async function eachService(
  services: Iterable<StoringService>,
  output: Output,
  work: (service: StoringService) => Promise<void>,
): Promise<boolean> {
  const all = [...services]
  const done = await Promise.allSettled(all.map(work))
  const failed = done.flatMap((one, index) =>
    one.status === 'rejected' ? [{ service: all[index]!, error: one.reason as Error }] : [],
  )
  const refusal = failed.find(({ error }) => error instanceof Refusal)
  if (refusal) throw refusal.error
  if (failed.length > 0 && failed.length === all.length) throw failed[0]!.error
  for (const { service, error } of failed) output.trouble(`${service}: ${messageOf(error)}`)
  return failed.length === 0
}

/** What an error says. That of a server that is away may have its code alone. */
export function messageOf(error: unknown): string {
  const { message, code } = error as { message?: string; code?: unknown }
  return message || String(code ?? error)
}
