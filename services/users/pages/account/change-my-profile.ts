import { create } from '@bufbuild/protobuf'
import type { ChangeMyProfileRequest } from '#gen/roster/users/v1/account_service'
import type { PageAnswer } from '#gen/roster/users/v1/sign_in_service'
import { registry } from '#lib/registry'
import type { Call } from '#lib/rpc/headers'
import { validate } from '#lib/rpc/validate'
import type { Context } from '../../context.ts'
import { meantName } from '../../directory/meant-name.ts'
import { updateMyProfile } from '../../directory/operations/user/update-my-profile.ts'
import { openAccount } from './open-account.ts'

const profile = registry.getMessage('roster.users.v1.UpdateMyProfileRequest')!

const outcomes: [field: string, outcome: string][] = [
  ['firstName', 'given-name-invalid'],
  ['lastName', 'family-name-invalid'],
  ['displayName', 'display-name-invalid'],
  ['preferredLanguage', 'language-invalid'],
]

export async function changeMyProfile(
  context: Context,
  request: ChangeMyProfileRequest,
  call: Call,
): Promise<PageAnswer> {
  const opened = await openAccount(context, request, '', call)
  if ('answer' in opened) return opened.answer
  const { nickName, gender } = opened.person.user.human!.profile
  const [firstName, lastName, displayName] = [request.givenName, request.familyName, request.displayName].map((name) =>
    meantName(name, 'person'),
  ) as [string, string, string]
  const changed = { firstName, lastName, nickName, displayName, preferredLanguage: request.language, gender }
  const broken = validate(profile, create(profile, changed)).map(({ field }) => field)
  const fault = outcomes.find(([field]) => broken.includes(field))
  if (fault) return opened.to('', fault[1])
  await updateMyProfile(context, changed, opened.call)
  return opened.to('', 'saved')
}
