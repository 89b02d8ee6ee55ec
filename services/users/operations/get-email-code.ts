import type { GetEmailCodeRequest, GetEmailCodeResponse } from '#gen/roster/users/v1/internal_service'
import type { Context } from '../context.ts'
import { deriveCode } from '../email-code.ts'
import { defaultTemplate, fillTemplate } from '../email-link.ts'
import { isAlive, type User } from '../vocabulary.ts'

export async function getEmailCode(
  { config, store, keys }: Context,
  { userId, codeId }: GetEmailCodeRequest,
): Promise<GetEmailCodeResponse> {
  const user = await store.load<User>('user', userId)
  const human = user?.state.human
  if (!user || !human?.code || human.code.codeId !== codeId) return {}
  if (human.code.delivery !== 'pending' || !isAlive(human.code, new Date())) return {}
  const code = deriveCode(keys, human.code, userId, human.email)
  const values = { UserID: userId, Code: code, OrgID: user.organizationId }
  return {
    code: {
      email: human.email,
      code,
      url: fillTemplate(human.code.urlTemplate ?? defaultTemplate(config.PUBLIC_URL), values),
      preferredLanguage: human.profile.preferredLanguage,
      displayName: human.profile.displayName,
      expirationDate: new Date(human.code.expiresAt),
    },
  }
}
