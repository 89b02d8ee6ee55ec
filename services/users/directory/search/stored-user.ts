import { subjectKeyOf } from '#lib/encryption/personal'
import type { Existing } from '#lib/eventstore/aggregate'
import type { Context } from '../../context.ts'
import type { User } from '../events/user.ts'

/** A user as a search reads it. */
export interface StoredUser {
  id: string
  organizationId: string
  sequence: number
  createdAt: string
  changedAt: string
  state: unknown
  key: string | null
}

/** The user of the row `u`, without what no search shows. */
export function selectStored({ sql }: Context) {
  return sql`
    select jsonb_build_object(
      'id', id, 'organizationId', organization_id, 'sequence', sequence, 'createdAt', created_at,
      'changedAt', changed_at, 'state', state #- '{machine,credentials}' #- '{human,code}',
      'key', ${subjectKeyOf(sql, sql`aggregates.id`)}
    )
    from aggregates where type = 'user' and id = u.user_id
  `
}

/** A user that was removed meanwhile is left out. So is one whose row changed meanwhile, and the others are found. */
export function readStored(
  { personal, log }: Context,
  { createdAt, changedAt, key, ...stored }: StoredUser,
): Existing<User>[] {
  const user = { ...stored, type: 'user', createdAt: new Date(createdAt), changedAt: new Date(changedAt) }
  try {
    const state = personal.decryptState({ ...user, key }) as User | undefined
    return state ? [{ ...user, state }] : []
  } catch (error) {
    log.error({ err: error, userId: user.id }, 'the state of a user cannot be decrypted: searches leave the user out')
    return []
  }
}
