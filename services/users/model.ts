import type { Aggregate } from '#lib/eventstore/aggregate'
import { evolveHistory } from '#lib/eventstore/history'
import type { Vocabulary } from '#lib/eventstore/vocabulary'
import { loginAddressKind } from './directory/login-names/proved-addresses.ts'
import { linkKind } from './directory/events/links.ts'
import { keysOfUser, userNameKind } from './directory/new-user.ts'
import { singleUseKinds } from './directory/secrets/single-use.ts'
import { project } from './projections.ts'
import { authorizationType } from './openid/events/authorization.ts'
import { codeMailType } from './directory/events/code-mail.ts'
import { evolve } from './evolve.ts'
import { tablesOfUsers } from './directory/erasure/personal-data.ts'
import { noticeType } from './directory/events/notice.ts'
import { passwordCodeType } from './directory/events/password-code.ts'
import type { User } from './directory/events/user.ts'

/** The service's knowledge of its aggregates. */
export const model: Vocabulary = {
  evolve: { ...evolve, history: evolveHistory },
  // 1: how often all sessions were ended.
  folds: { user: 1 },
  project,
  projections: [
    { table: 'found_users', type: 'user', key: ['user_id'] },
    { table: 'found_addresses', type: 'user', key: ['user_id'] },
  ],
  keys: ({ type, organizationId, state }) => {
    const known = state as Aggregate<User>['state']
    const user = known?.former ?? known
    return type === 'user' && user && !user.removed ? keysOfUser(user, organizationId) : []
  },
  keyKinds: { [userNameKind]: 'user', [linkKind]: 'user' },
  keyKindsWithoutHolder: singleUseKinds,
  personal: {
    subject: 'user',
    events: [codeMailType, passwordCodeType, noticeType],
    states: [passwordCodeType],
    keyKinds: [userNameKind, loginAddressKind, linkKind],
    isErased: (state) => (state as User).removed === true && !(state as User).former,
  },
  shortLived: ['session', authorizationType],
  watched: [
    ...tablesOfUsers.map((table) => ({
      table,
      columns: ['user_id', ...(table.startsWith('unsent_') ? ['requested_at'] : [])],
    })),
    { table: 'forgettings' },
  ],
}
