import type { Effects } from './effects.ts'
import type { Removed } from './removed.ts'

/** The events of a user grant. It belongs to the organization that gave it. */
export type UserGrantEvent =
  | { type: 'added'; payload: NewUserGrant }
  | { type: 'changed'; payload: { roleKeys: string[] } & Partial<GivenByProvider> }
  | { type: 'deactivated'; payload: {} }
  | { type: 'reactivated'; payload: {} }
  | Removed

export const userGrantEffects: Effects<UserGrantEvent> = {
  added: 'alone',
  changed: 'part',
  deactivated: 'part',
  reactivated: 'part',
  removed: 'alone',
}

/** What a provider's grant knows of the sign-in that gave it. */
export interface GivenByProvider {
  /** The rows of the provider's table. */
  rowIds: string[]
  /** RFC 3339. */
  signedInAt: string
}

export interface NewUserGrant extends Partial<GivenByProvider> {
  userId: string
  projectId: string
  /** Empty where the organization owns the project. */
  projectGrantId: string
  roleKeys: string[]
  /** The identity provider whose table gave it. Missing: somebody did. */
  idpId?: string
}

export interface UserGrant extends NewUserGrant {
  inactive?: true | undefined
  removed?: true
}

export function evolveUserGrant(grant: UserGrant | undefined, { type, payload }: UserGrantEvent): UserGrant {
  if (type === 'added') return payload
  if (grant === undefined) throw new Error(`a user grant begins with ${type}`)
  switch (type) {
    case 'changed':
      return { ...grant, ...payload }
    case 'deactivated':
      return { ...grant, inactive: true }
    case 'reactivated':
      return { ...grant, inactive: undefined }
    case 'removed':
      return { ...grant, removed: true }
  }
}
