import {
  type Download,
  FactorWay,
  type NoticePage,
  NoticeReason,
  PageAnswer,
} from '#gen/roster/users/v1/sign_in_service'
import { type Exchange, protective } from '../../listen/exchange.ts'
import { accountPage } from '../../pages/login/account/account-page.ts'
import { accountsPage } from '../../pages/login/accounts.ts'
import { consentPage } from '../../pages/login/consent.ts'
import { otpEmailPage } from '../../pages/login/factors/otp-email.ts'
import { recoveryFactorPage } from '../../pages/login/factors/recovery-code.ts'
import { totpPage, totpSetUpPage } from '../../pages/login/factors/totp.ts'
import { passkeyPage } from '../../pages/login/factors/passkey.ts'
import { invitationLinkPage, invitationPage } from '../../pages/login/invitation.ts'
import { chooseLanguage } from '../../pages/login/language/language.ts'
import { checkLocation } from '../../pages/login/language/location.ts'
import { mailedCodePage } from '../../pages/login/mailed-code.ts'
import { noAccessPage } from '../../pages/login/no-access.ts'
import { noticePage } from '../../pages/login/notice.ts'
import { newPasswordPage } from '../../pages/login/new-password.ts'
import { recoveryCodePage, recoveryPage, recoveryPasskeyPage } from '../../pages/login/recovery.ts'
import { passkeyLinkPage } from '../../pages/login/passkeys/passkey-link.ts'
import { providerTrialPage } from '../../pages/login/providers/provider-trial.ts'
import { providerLinkPage, providerRegistrationPage } from '../../pages/login/providers/provider.ts'
import { passkeyOfferPage } from '../../pages/login/passkeys/passkey-offer.ts'
import { registrationCodePage, registrationPage } from '../../pages/login/registration.ts'
import type { Document } from '../../pages/login/shell.ts'
import { signInPage } from '../../pages/login/sign-in.ts'
import { signOutPage } from '../../pages/login/sign-out.ts'
import { takeBackPage } from '../../pages/login/take-back.ts'
import { formPostPage, leavingPage } from '../../pages/login/ways-out.ts'
import { writeCookie } from './cookie.ts'

/** What a browser gets. */
export interface Reply {
  status: number
  headers: Record<string, string | string[]>
  body: string | Uint8Array
}

interface Place {
  PUBLIC_URL: string
  /** That the page was asked for with. */
  organizationId: string
}

/** Writes an answer as a page or a redirect. Throws where it leads nowhere. */
export function writePage(bytes: Uint8Array, exchange: Exchange, { PUBLIC_URL, organizationId }: Place): Reply {
  const answer = PageAnswer.decode(bytes)
  const reply = replyOf(answer, exchange, organizationId)
  const { newBrowser, newBrowserLifetime, newTrust, newTrustLifetime } = answer
  const cookies = [
    ...(newBrowser === '' ? [] : [writeCookie(newBrowser, newBrowserLifetime, PUBLIC_URL)]),
    ...(newTrust === '' ? [] : [writeCookie(newTrust, newTrustLifetime, PUBLIC_URL, 'trust')]),
  ]
  if (cookies.length > 0) reply.headers['set-cookie'] = cookies.length === 1 ? cookies[0]! : cookies
  return reply
}

function replyOf(
  { answer, uiLocales, brand, ...rest }: PageAnswer,
  { request, requestId }: Exchange,
  organizationId: string,
): Reply {
  const language = { ...chooseLanguage(uiLocales, request.headers['accept-language']), brand }
  const shown = { language, uiLocales, ...rest }
  switch (answer?.$case) {
    case 'redirect':
      // After a POST the browser must not post again.
      return redirectTo(answer.value.location, request.method === 'POST' ? 303 : 302)
    case 'signIn':
      return toReply(signInPage(shown, answer.value))
    case 'mailedCode':
      return toReply(mailedCodePage(shown, answer.value))
    case 'accounts':
      return toReply(accountsPage(shown, answer.value))
    case 'noAccess':
      return toReply(noAccessPage(shown, answer.value))
    case 'account':
      return toReply(accountPage(shown, answer.value))
    case 'consent':
      return toReply(consentPage(shown, answer.value))
    case 'signOut':
      return toReply(signOutPage(shown, answer.value, requestId))
    case 'registration':
      return toReply(registrationPage(shown, answer.value))
    case 'registrationCode':
      return toReply(registrationCodePage(shown, answer.value))
    case 'recovery':
      return toReply(recoveryPage(shown, answer.value))
    case 'recoveryCode':
      return toReply(recoveryCodePage(shown, answer.value))
    case 'recoveryPasskey':
      return toReply(recoveryPasskeyPage(shown, answer.value))
    case 'newPassword':
      return toReply(newPasswordPage(shown, answer.value))
    case 'invitationLink':
      return toReply(invitationLinkPage(language, organizationId, answer.value))
    case 'invitation':
      return toReply(invitationPage(shown, answer.value))
    case 'code':
      return toReply(otpEmailPage(shown, answer.value))
    case 'factorCode':
      return toReply(
        (answer.value.way === FactorWay.FACTOR_WAY_RECOVERY_CODE ? recoveryFactorPage : totpPage)(shown, answer.value),
      )
    case 'totpSetUp':
      return toReply(totpSetUpPage(shown, answer.value))
    case 'passkey':
      return toReply(passkeyPage(shown, answer.value))
    case 'passkeyOffer':
      return toReply(passkeyOfferPage(shown, answer.value))
    case 'providerRegistration':
      return toReply(providerRegistrationPage(shown, answer.value))
    case 'providerLink':
      return toReply(providerLinkPage(shown, answer.value))
    case 'providerTrial':
      return toReply(providerTrialPage(language, answer.value))
    case 'passkeyLink':
      return toReply(passkeyLinkPage(language, organizationId, answer.value))
    case 'leaving':
      return toReply(leavingPage(language, answer.value))
    case 'formPost':
      return toReply(formPostPage(language, answer.value))
    case 'notice':
      return toReply(noticePage(language, answer.value, { ...rest, requestId, organizationId }), statusOf(answer.value))
    case 'logo':
      return toImage(answer.value.content)
    case 'takeBack':
      return toReply(takeBackPage(language, organizationId))
    case 'download':
      return toFile(answer.value)
    case undefined:
      throw new Error('an answer without a page')
  }
}

// What the person wanted.
const done: NoticeReason[] = [
  NoticeReason.NOTICE_REASON_CANCELLED,
  NoticeReason.NOTICE_REASON_SIGNED_OUT,
  NoticeReason.NOTICE_REASON_STILL_SIGNED_IN,
  NoticeReason.NOTICE_REASON_PASSWORD_SET,
  NoticeReason.NOTICE_REASON_REMOVED,
  NoticeReason.NOTICE_REASON_TAKEN_BACK,
  NoticeReason.NOTICE_REASON_TAKEN_BACK_BY_CODE,
  NoticeReason.NOTICE_REASON_TAKEN_BACK_WITHOUT_RESET,
  NoticeReason.NOTICE_REASON_PASSKEY_ADDED,
]

function statusOf({ reason }: NoticePage): number {
  if (done.includes(reason)) return 200
  return reason === NoticeReason.NOTICE_REASON_TOO_LARGE ? 413 : 400
}

// The address of a page names its request, so other sites get none of it. A popup keeps its opener: no
// Cross-Origin-Opener-Policy.
const closed = { ...protective, 'referrer-policy': 'same-origin' }

export function redirectTo(location: string, status: 302 | 303): Reply {
  return { status, headers: { ...closed, location: checkLocation(location) }, body: '' }
}

// Its address is the hash of its content.
function toImage(body: Uint8Array): Reply {
  if (body.length === 0) return { status: 404, headers: { ...closed }, body }
  const kept = { 'cache-control': 'public, max-age=31536000, immutable', 'content-type': 'image/png' }
  return { status: 200, headers: { ...closed, ...kept }, body }
}

function toFile({ fileName, mediaType, content }: Download): Reply {
  const kept = { 'content-type': mediaType, 'content-disposition': `attachment; filename="${fileName}"` }
  return { status: 200, headers: { ...closed, ...kept }, body: content }
}

// It is sent uncompressed: beside a text of the client's choice, the length would tell the token.
export function toReply({ body, policy }: Document, status = 200): Reply {
  const headers = { ...closed, 'content-security-policy': policy, 'content-type': 'text/html; charset=utf-8' }
  return { status, headers, body }
}
