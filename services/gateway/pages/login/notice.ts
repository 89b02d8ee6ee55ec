import { type Destination, type NoticePage, NoticeReason } from '#gen/roster/users/v1/sign_in_service'
import { factsOf } from './facts.ts'
import { apart, brandedPath, namesOf } from './form.ts'
import { fill, html, type Part } from './html.ts'
import type { Language } from './language/language.ts'
import { checkLocation } from './language/location.ts'
import { type Document, frame } from './shell.ts'
import type { TextKey, Texts } from './texts/texts.ts'
import { formTo, hostOf } from './ways-out.ts'

/** A text that has another one beside it, with more to say. */
export type NoticeKey = { [Key in TextKey]: `${Key}Hint` extends keyof Texts ? Key : never }[TextKey]

const keys: Partial<Record<NoticeReason, NoticeKey>> = {
  [NoticeReason.NOTICE_REASON_CLIENT_UNKNOWN]: 'clientUnknown',
  [NoticeReason.NOTICE_REASON_REDIRECT_URI_INVALID]: 'redirectUriInvalid',
  [NoticeReason.NOTICE_REASON_TOO_LARGE]: 'tooLarge',
  [NoticeReason.NOTICE_REASON_REQUEST_UNKNOWN]: 'requestUnknown',
  [NoticeReason.NOTICE_REASON_REQUEST_ANSWERED]: 'requestAnswered',
  [NoticeReason.NOTICE_REASON_CANCELLED]: 'cancelled',
  [NoticeReason.NOTICE_REASON_FORM_INVALID]: 'formInvalid',
  [NoticeReason.NOTICE_REASON_SIGNED_OUT]: 'signedOut',
  [NoticeReason.NOTICE_REASON_STILL_SIGNED_IN]: 'stillSignedIn',
  [NoticeReason.NOTICE_REASON_REQUEST_FAULTY]: 'requestFaulty',
  [NoticeReason.NOTICE_REASON_PASSWORD_SET]: 'passwordSet',
  [NoticeReason.NOTICE_REASON_REMOVED]: 'removed',
  [NoticeReason.NOTICE_REASON_TAKEN_BACK]: 'takenBack',
  [NoticeReason.NOTICE_REASON_TAKEN_BACK_BY_CODE]: 'takenBackByCode',
  [NoticeReason.NOTICE_REASON_TAKEN_BACK_WITHOUT_RESET]: 'takenBackWithoutReset',
  [NoticeReason.NOTICE_REASON_LINK_EXPIRED]: 'linkExpired',
  [NoticeReason.NOTICE_REASON_PASSKEY_ADDED]: 'passkeyReady',
  [NoticeReason.NOTICE_REASON_PASSKEY_NOT_ADDED]: 'passkeyNotAdded',
  [NoticeReason.NOTICE_REASON_INVITATION_OVER]: 'invitationOver',
  [NoticeReason.NOTICE_REASON_INVITATION_REFUSED]: 'invitationRefused',
}

const leadsToAccount: NoticeReason[] = [
  NoticeReason.NOTICE_REASON_INVITATION_OVER,
  NoticeReason.NOTICE_REASON_PASSKEY_ADDED,
  NoticeReason.NOTICE_REASON_TAKEN_BACK_BY_CODE,
  NoticeReason.NOTICE_REASON_TAKEN_BACK_WITHOUT_RESET,
]

/** A page without a form, for a reason that users gives. */
export function noticePage(
  language: Language,
  page: NoticePage,
  { destination, requestId, organizationId }: Told,
): Document {
  const { text } = language
  const { reason, location, applicationOrigin: origin, formPost } = page
  const back =
    origin !== '' && html`<a href="${checkLocation(origin)}">${fill(text.backTo, { host: apart(hostOf(origin)) })}</a>`
  const refuse = location !== '' && html`<a id="back" href="${checkLocation(location)}">${text.backToApplication}</a>`
  const newPassword =
    reason === NoticeReason.NOTICE_REASON_TAKEN_BACK &&
    html`<a href="${brandedPath('/ui/forgot-password', organizationId)}">${text.newPassword}</a>`
  // Who has accepted it signs in there.
  const ownAccount = leadsToAccount.includes(reason) && html`<a href="/ui/account">${text.account}</a>`
  const link = newPassword || ownAccount || refuse || back
  const isUri = reason === NoticeReason.NOTICE_REASON_REDIRECT_URI_INVALID
  const isClient = isUri || reason === NoticeReason.NOTICE_REASON_CLIENT_UNKNOWN
  const facts = factsOf(language, page, requestId, { isUri, isClient })
  return notice(language, keys[reason] ?? 'failed', destination ? namesOf(destination) : {}, link, {
    facts,
    form: formPost && formTo(formPost, text.backToApplication),
  })
}

/** What a page says beside what users gave it. */
interface Told {
  destination?: Destination | undefined
  /** Of the request for the page: the log has it, too. */
  requestId: string
  /** Whose brand the page was asked for with. */
  organizationId: string
}

/** A page that only says something. */
export function notice(
  language: Language,
  key: NoticeKey,
  values: Record<string, Part>,
  link?: Part,
  { facts, form }: { facts?: Part; form?: Part } = {},
): Document {
  const { text } = language
  const content = html`<p>${fill(text[`${key}Hint`], values)}</p>
    ${facts} ${link && html`<p class="way">${link}</p>`} ${form}`
  return frame(language, text[key], content, { leadsElsewhere: form !== undefined })
}
