import { instance } from '../instance.ts'

/** The one subject of a service's checkpoints. */
export function checkpointSubject(service: string): string {
  return `roster.events.${service}.${instance.id}.audit.${service}.checkpoint.signed`
}
