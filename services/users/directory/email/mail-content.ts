import { MailKind } from '#gen/roster/users/v1/internal_service'
import type { Existing, Read } from '#lib/eventstore/aggregate'
import type { Config } from '../../config.ts'
import type { Context } from '../../context.ts'
import type { Code } from '../events/code.ts'
import type { Human } from '../events/human.ts'
import type { User } from '../events/user.ts'
import { mailAddress } from './address.ts'
import { type CodePurpose, deriveCode } from './code.ts'
import { checkTemplate, defaultTemplate, linkOf, linkTargets } from './link.ts'
import type { KindOfMail, MailText } from './mail-kind.ts'

/** The content of a mail to a person. */
export function toHuman(
  contentFor: (
    context: Context,
    user: Read<Existing<User>>,
    human: Human,
    mailId: string,
  ) => Promise<PersonalText | undefined>,
): KindOfMail['content'] {
  return async (context, { userId, codeId }) => {
    const user = await context.store.load<User>('user', userId)
    const text = user?.state.human && (await contentFor(context, user, user.state.human, codeId))
    return text && { from: { organizationId: user.organizationId }, ...text }
  }
}

type PersonalText = Omit<MailText, 'from'> & Partial<Pick<MailText, 'from'>>

/** A mail with a code, and a link to the page that takes it. */
export function codeContent(
  { config, keys }: Context,
  { id, organizationId }: Existing<User>,
  human: Human,
  { code: facts, purpose, page }: { code: Code; purpose: CodePurpose; page: string },
): PersonalText {
  const code = deriveCode(keys, facts, id, human.email, purpose)
  const url = linkOf(templateFor(facts, config, page), { UserID: id, Code: code, OrgID: organizationId })
  const times = { expirationDate: new Date(facts.expiresAt), changeDate: undefined }
  return { email: mailAddress(human.email), code, url, ...times, ...commonOf(human) }
}

/** What a mail has that is none of an invitation. */
export const withoutInviter = { inviter: '', applicationName: '', message: '' }

/** Empty where the inviter is gone. */
export async function nameOfInviter({ store }: Pick<Context, 'store'>, inviterId: string): Promise<string> {
  const { human, machine } = (await store.load<User>('user', inviterId))?.state ?? {}
  return human?.profile.displayName ?? machine?.name ?? ''
}

/** What every mail to a person has. */
export function commonOf({ profile: { preferredLanguage, displayName } }: Human) {
  // That of the request.
  return { ...withoutInviter, preferredLanguage, displayName, kind: MailKind.MAIL_KIND_UNSPECIFIED }
}

// Checks the template again. An earlier version, or one without configured hosts, may have accepted it.
function templateFor({ urlTemplate }: Code, config: Config, page: string): string {
  const isSound = urlTemplate !== undefined && checkTemplate(urlTemplate, linkTargets(config, true), '').length === 0
  return isSound ? urlTemplate : defaultTemplate(config.PUBLIC_URL, page)
}
