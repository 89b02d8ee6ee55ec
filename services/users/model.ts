import type { Aggregate } from '#lib/eventstore/aggregate'
import type { Vocabulary } from '#lib/eventstore/vocabulary'
import { userNameKey, userNameKind } from './new-user.ts'
import { project } from './views.ts'
import { evolve } from './vocabulary/evolve.ts'
import type { User } from './vocabulary/user.ts'

/** The service's knowledge of its aggregates. */
export const model: Vocabulary = {
  evolve,
  project,
  views: [
    { table: 'found_users', type: 'user', key: ['user_id'] },
    { table: 'found_addresses', type: 'user', key: ['user_id'] },
  ],
  keys: ({ type, organizationId, state }) => {
    const user = state as Aggregate<User>['state']
    return type === 'user' && user && !user.removed ? [userNameKey(organizationId, user.userName)] : []
  },
  keyKinds: { [userNameKind]: 'user' },
  forgotten: ['session'],
  watched: [
    { table: 'unsent_email_codes', columns: ['requested_at'] },
    { table: 'unsent_mails', columns: ['requested_at'] },
    { table: 'forgettings' },
  ],
}
