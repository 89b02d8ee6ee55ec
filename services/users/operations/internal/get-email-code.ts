import type { GetEmailCodeRequest, GetEmailCodeResponse } from '#gen/roster/users/v1/internal_service'
import type { Context } from '../../context.ts'
import { deriveCode } from '../../email/code.ts'
import { checkTemplate, defaultTemplate, linkOf, linkTargets } from '../../email/link.ts'
import type { Config } from '../../config.ts'
import { type Code, isAlive } from '../../vocabulary/code.ts'
import { awaitsMail, type CodeMail, codeMailType } from '../../vocabulary/code-mail.ts'
import type { User } from '../../vocabulary/user.ts'

export async function getEmailCode(
  { config, store, keys }: Context,
  { userId, codeId }: GetEmailCodeRequest,
): Promise<GetEmailCodeResponse> {
  const [user, mail] = await Promise.all([store.load<User>('user', userId), store.load<CodeMail>(codeMailType, userId)])
  const human = user?.state.human
  if (!user || !human || !awaitsMail(human.code, codeId, mail?.state) || !isAlive(human.code, new Date())) return {}
  const code = deriveCode(keys, human.code, userId, human.email)
  const values = { UserID: userId, Code: code, OrgID: user.organizationId }
  return {
    code: {
      email: human.email,
      code,
      url: linkOf(templateFor(human.code, config), values),
      preferredLanguage: human.profile.preferredLanguage,
      displayName: human.profile.displayName,
      expirationDate: new Date(human.code.expiresAt),
    },
  }
}

// Checks the template again. An earlier version, or one without configured hosts, may have accepted it.
function templateFor({ urlTemplate }: Code, config: Config): string {
  const isSound = urlTemplate !== undefined && checkTemplate(urlTemplate, linkTargets(config, true), '').length === 0
  return isSound ? urlTemplate : defaultTemplate(config.PUBLIC_URL)
}
