import { type DescMessage, fromBinary, toJson } from '@bufbuild/protobuf'
import { ListMembershipsResponse } from '#gen/roster/grants/v1/internal_service'
import type { DownloadMyDataRequest } from '#gen/roster/users/v1/account_service'
import {
  SearchUserConsentsResponse,
  SearchUserSessionsResponse,
  SearchUserSignInsResponse,
} from '#gen/roster/users/v1/session_service'
import type { PageAnswer } from '#gen/roster/users/v1/sign_in_service'
import { GetUserResponse, ListPasskeysResponse, ListUserChangesResponse } from '#gen/roster/users/v1/user_service'
import { registry } from '#lib/registry'
import type { Call } from '#lib/rpc/headers'
import { membershipsIn } from '../../../roles-there.ts'
import type { Context } from '../../context.ts'
import { listUserChanges } from '../../directory/operations/find/list-user-changes.ts'
import { getUser } from '../../directory/operations/user/get-user.ts'
import { show } from '../../openid/authorization/answer.ts'
import { searchUserConsents } from '../../openid/consents/search-user-consents.ts'
import { listPasskeys } from '../../sessions/operations/passkeys/list-passkeys.ts'
import { searchUserSessions } from '../../sessions/operations/session/search-user-sessions.ts'
import { searchUserSignIns } from '../../sessions/operations/sign-ins/search-user-sign-ins.ts'
import { openAccount } from './open-account.ts'

/** As many as a person may have of sessions and consents; of the sign-ins and changes, the last ones. An answer has a megabyte. */
const most = { sessions: 500, signIns: 500, consents: 500, changes: 500 }

export async function downloadMyData(
  context: Context,
  request: DownloadMyDataRequest,
  call: Call,
): Promise<PageAnswer> {
  const opened = await openAccount(context, request, 'data', call)
  if ('answer' in opened) return opened.answer
  const { userId, call: own, person } = opened
  const paging = { cursor: '', withTotal: false }
  const [user, sessions, signIns, consents, changes, passkeys, roles] = await Promise.all([
    getUser(context, { userId }),
    searchUserSessions(context, { userId, limit: most.sessions, ...paging }, own),
    searchUserSignIns(context, { userId, limit: most.signIns, ...paging }, own),
    searchUserConsents(context, { userId, limit: most.consents, ...paging }, own),
    listUserChanges(context, { userId, limit: most.changes, cursor: '' }, own),
    listPasskeys(context, { userId }),
    context.grants.listMemberships(
      { ...membershipsIn(userId, person.signedInUser.organizationId), mostOthers: 100 },
      own,
    ),
  ])
  const data = {
    ...spell('roster.users.v1.GetUserResponse', GetUserResponse.encode(user)),
    ...spell('roster.users.v1.SearchUserSessionsResponse', SearchUserSessionsResponse.encode(sessions)),
    ...spell('roster.users.v1.SearchUserSignInsResponse', SearchUserSignInsResponse.encode(signIns)),
    ...spell('roster.users.v1.SearchUserConsentsResponse', SearchUserConsentsResponse.encode(consents)),
    passkeys: spell('roster.users.v1.ListPasskeysResponse', ListPasskeysResponse.encode(passkeys))['passkeys'] ?? [],
    roles: spell('roster.grants.v1.ListMembershipsResponse', ListMembershipsResponse.encode(roles)),
    ...spell('roster.users.v1.ListUserChangesResponse', ListUserChangesResponse.encode(changes)),
  }
  const content = Buffer.from(`${JSON.stringify(data, undefined, 2)}\n`)
  return show({ $case: 'download', value: { fileName: 'my-data.json', mediaType: 'application/json', content } })
}

// As the API spells it in JSON.
function spell(type: string, encoded: { finish(): Uint8Array }): Record<string, unknown> {
  const desc: DescMessage = registry.getMessage(type)!
  const { nextCursor: _, ...said } = toJson(desc, fromBinary(desc, encoded.finish()), { registry }) as Record<
    string,
    unknown
  >
  return said
}
