import { storingServices, type StoringService } from '../provision.ts'
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
