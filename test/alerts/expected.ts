import { serviceNames } from '../../deploy/local/service-environment.ts'
import type { Fault } from '../faults/plan.ts'

/** The services that talk to a server, and alert when they get no answers from it. */
const talking: Record<string, readonly string[]> = {
  postgres: ['users', 'grants', 'idp', 'notifier'],
  nats: serviceNames,
  redis: ['notifier'],
}

/** The alerts that a fault must bring as long as it lasts. Throws for a fault without such a list. */
export function expectedOf({ kind, victim }: Fault): string[] {
  if ((serviceNames as readonly string[]).includes(victim)) {
    // The supervisor brings a killed service back before anybody must act.
    return kind === 'kill' ? [] : [`RosterServiceDown ${victim}`]
  }
  if (victim in talking) return talking[victim]!.map((service) => unreachable(service, victim))
  const [service = '', server = ''] = victim.split('↔')
  if (victim === 'notifier↔smtp') return ['RosterMailServer']
  if (talking[server]?.includes(service)) return [unreachable(service, server)]
  throw new Error(`expected.ts does not say which alerts ${kind} ${victim} brings`)
}

function unreachable(service: string, server: string): string {
  return `RosterServerUnreachable ${service} ${server}`
}
