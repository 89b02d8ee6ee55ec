import type { AccessTokenType } from '#gen/roster/users/v1/user'

import { type CredentialEvent, type Credentials, evolveCredentials, noCredentials } from './credentials.ts'

export type MachineEvent =
  | { type: 'machine.added'; payload: { userName: string } & MachineSettings }
  | { type: 'machine.changed'; payload: MachineSettings }
  | { type: 'machine.dpop.changed'; payload: { required: boolean } }
  | CredentialEvent

export interface MachineSettings {
  name: string
  description: string
  accessTokenType: AccessTokenType
}

export interface Machine extends MachineSettings {
  dpopRequired?: boolean
  credentials?: Credentials
}

export function evolveMachine(machine: Machine, event: MachineEvent, at: Date): Machine {
  if (event.type === 'machine.added') return machine
  if (event.type === 'machine.changed') return { ...machine, ...event.payload }
  if (event.type === 'machine.dpop.changed') return { ...machine, dpopRequired: event.payload.required }
  const before = machine.credentials ?? noCredentials
  const credentials = evolveCredentials(before, event, at)
  return credentials === before ? machine : { ...machine, credentials }
}
