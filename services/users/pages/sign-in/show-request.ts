import { NoticeReason, type PageAnswer, RecoveryError, SignInError } from '#gen/roster/users/v1/sign_in_service'
import type { Call } from '#lib/rpc/headers'
import { formToken } from '../../sessions/browsers/form-token.ts'
import { Superseded } from '../../sessions/browsers/superseded.ts'
import type { Context } from '../../context.ts'
import { issuerOf } from '../../directory/issuer.ts'
import type { Missing, ShutOut } from '../../openid/judge/judge.ts'
import { answerApplication, notice, refusalLink } from '../../openid/authorization/answer.ts'
import { type Candidate, isMeant, isAdmitted } from '../../openid/authorization/candidates.ts'
import { recoveryStep } from './recovery-by-passkey.ts'
import { begin } from '../../openid/authorization/begin.ts'
import { grantCode } from '../../openid/authorization/grant-code.ts'
import type { FactorKind } from '../../sessions/events/session.ts'
import { askedFirst } from '../../sessions/factors/asked-first.ts'
import { otpEmailPage } from './factors/otp-email.ts'
import { totpPage } from './factors/totp.ts'
import { typedCodePage } from './factors/typed-code.ts'
import { passkeyPage, passkeyPrompt } from './factors/passkey.ts'
import type { OpenedRequest } from './opened-request.ts'
import { enterAccount, toAccount } from './own-account.ts'
import { isForOwnAccount } from '../../openid/request/parameters.ts'
import { organizationOfRequest } from '../../openid/request/request-organization.ts'
import { registeringOrganization } from '../../openid/request/registering-organization.ts'
import { asksForCode, policyOfRequest, providersAlone } from './asks-for-code.ts'
import {
  accountsPage,
  consentPage,
  mailedCodePage,
  noAccessPage,
  providerRegistrationPage,
  recoveryPage,
  registrationPage,
  signInPage,
} from './pages.ts'
import type { Mistake } from '../../openid/request/mistakes.ts'
import type { Asked, Fault, RequestedApplication } from '../../openid/request/read-parameters.ts'
import { answerableBy } from '../../openid/request/request-object.ts'
import { logMistake, logShutOut, refuseUnknown, showMistake } from '../../openid/authorization/refuse-request.ts'
import { hostOf } from '../../openid/request/redirect-uri.ts'
import { requestFacts } from '../../openid/request/request-facts.ts'
import { closeRequest, type RequestRow } from '../../openid/request/request-row.ts'
import { type RequestState, requestStateOf } from './request-state.ts'
import { wayBack } from './way-back.ts'
import { newPasswordPage } from './new-password-page.ts'
import { mayAskNameAlone } from './provider/by-domain.ts'
import { goStraight, straightTo } from './provider/straight.ts'
import { offerLink } from './provider/link-here.ts'
import { buttonOf, offeredProviders } from './provider/offered-providers.ts'
import { offerPasskey } from './passkey-offer.ts'
import { offersPasskey } from './offers-passkey.ts'
import { invitationPrompt } from './invitation-passkey.ts'
import { landingOf, nextOfInvitation, showAccepted } from './next-of-invitation.ts'

/** The page that comes next in a request. Where nothing is missing, that is the answer to the application, once. */
export async function showRequest(context: Context, opened: OpenedRequest, call: Call): Promise<PageAnswer> {
  const { browser, row } = opened
  const { parameters, progress } = row
  const isOwn = isForOwnAccount(parameters)
  if (parameters.invitation && (row.answer || row.isOver)) return showAccepted(context, parameters.invitation)
  if (isOwn && (row.answer || row.isOver)) return toAccount(parameters.uiLocales, parameters.state)
  if (row.answer) return showAnswered(context, row)
  if (row.isOver) return restart(context, opened, call)
  const state = await requestStateOf(context, opened, call)
  if ('notice' in state) return refuseUnknown(context, parameters, state, call)
  const { requested, mistake, people } = state
  // The former value of a cookie answers nothing.
  if (browser.isPresent && progress.decision === 'denied') return refuse(context, row, { fault: 'access_denied' })
  if (mistake) return showOrAnswer(context, row, { ...requested, mistake }, people.length > 0, call)
  const landing = parameters.invitation && (await landingOf(context, parameters.invitation))
  const page = await nextPage(context, opened, state, call)
  if (page.answer?.$case === 'noAccess')
    logShutOut(context, parameters, state.chosen ? [state.chosen] : people, 'page', call)
  if (!withForm.includes(page.answer!.$case)) return page
  const { answer } = page
  if (
    answer?.$case === 'signIn' ||
    answer?.$case === 'mailedCode' ||
    answer?.$case === 'registrationCode' ||
    answer?.$case === 'recoveryCode' ||
    answer?.$case === 'recoveryPasskey' ||
    (answer?.$case === 'invitation' && !answer.value.account)
  ) {
    const policy = await policyOfRequest(context, opened, state)
    const isFixed = (answer.$case === 'signIn' || answer.$case === 'mailedCode') && answer.value.nameIsFixed
    const known = isFixed ? state.chosen : undefined
    const { keepSignedIn } = known?.signedInUser.policy ?? policy
    if (keepSignedIn === 'allowed') answer.value.keep = progress.keep ?? progress.proved?.keep ?? known?.isKept ?? false
    if (answer.$case === 'registrationCode') answer.value.withoutPassword = !policy.factors.includes('password')
    if (answer.$case === 'recoveryCode') answer.value.offersPasskey = policy.allowPasskeys
    if (answer.$case === 'signIn') {
      const { factors } = known?.signedInUser.policy ?? policy
      answer.value.mailsCode = factors.includes('mailed-code')
      answer.value.withoutPassword = factors.includes('provider')
      answer.value.hidesPasswordReset = policy.hidePasswordReset || !factors.includes('password')
      answer.value.asksNameAlone =
        !known && policy.allowDomainDiscovery && mayAskNameAlone(opened.row.progress, answer.value)
      if (!answer.value.nameIsFixed) answer.value.mayRegister = await mayRegister(context, state)
      const isOffered = known
        ? known.signedInUser.policy.allowPasskeys
        : await offersPasskey(context, policy, organizationOfRequest(parameters.scope, requested))
      const providers = await offeredProviders(context, opened, state)
      const page = { error: answer.value.error, factors, providers, hasPasskeys: isOffered }
      const straight = await straightTo(context, opened, state, page)
      if (straight) return goStraight(context, opened, { state, provider: straight }, call)
      answer.value.providers = providers.map(buttonOf)
      // Nothing that this person has would serve.
      if (answer.value.withoutPassword && known && providers.length === 0 && !isOffered)
        answer.value.error ||= SignInError.SIGN_IN_ERROR_PROVIDER_REFUSED
      answer.value.linksProvider = progress.proved?.provider ?? ''
      if (isOffered) answer.value.passkey = await passkeyPrompt(context, opened, state)
    }
  }
  if (answer?.$case === 'recovery' || answer?.$case === 'recoveryCode')
    answer.value.providers = await providersAlone(context, opened, state)
  if (answer?.$case === 'invitation' && !answer.value.account)
    answer.value.passkey = await invitationPrompt(context, opened, call)
  if (answer?.$case === 'passkey' && !progress.recovery)
    answer.value.passkey = await passkeyPrompt(context, opened, state)
  return {
    ...page,
    formToken: formToken(context.keys, browser.id, row.id),
    requestId: row.id,
    uiLocales: parameters.uiLocales,
    destination: {
      applicationName: landing?.name ?? requested.application.name,
      host: hostOf(landing?.location || (isOwn ? issuerOf(context.config) : parameters.redirectUri)),
    },
  }
}

const withForm = [
  'signIn',
  'mailedCode',
  'passkey',
  'code',
  'factorCode',
  'totpSetUp',
  'accounts',
  'noAccess',
  'registration',
  'registrationCode',
  'recovery',
  'recoveryCode',
  'recoveryPasskey',
  'newPassword',
  'passkeyOffer',
  'providerRegistration',
  'providerLink',
  'invitation',
  'consent',
]

async function showAnswered(context: Context, { parameters, answer }: RequestRow): Promise<PageAnswer> {
  const applicationOrigin = await wayBack(context, parameters)
  if (answer === 'given') return notice(NoticeReason.NOTICE_REASON_REQUEST_ANSWERED, { applicationOrigin })
  const location = refusalLink(issuerOf(context.config), parameters)
  return notice(NoticeReason.NOTICE_REASON_CANCELLED, { applicationOrigin, location })
}

// Once, with the same parameters.
async function restart(context: Context, opened: OpenedRequest, call: Call): Promise<PageAnswer> {
  const { row, browser } = opened
  const isFirst = !row.restarts && browser.isPresent && (await closeRequest(context.sql, row.id, 'given'))
  if (isFirst) return begin(context, row.parameters, opened, call, true)
  const applicationOrigin = await wayBack(context, row.parameters)
  return notice(NoticeReason.NOTICE_REASON_REQUEST_UNKNOWN, { applicationOrigin })
}

async function refuse(
  context: Context,
  row: RequestRow,
  outcome: { fault: Fault } | { mistake: Mistake },
): Promise<PageAnswer> {
  if (await closeRequest(context.sql, row.id, 'given'))
    return answerApplication(issuerOf(context.config), row.parameters, outcome, true)
  return showAnswered(context, { ...row, answer: 'given' })
}

// What was right when it began may be wrong by now: the settings of its application have changed.
async function showOrAnswer(
  context: Context,
  row: RequestRow,
  faulty: RequestedApplication & { mistake: Mistake },
  isAnyoneSignedIn: boolean,
  call: Call,
): Promise<PageAnswer> {
  const parameters = answerableBy(row.parameters, faulty)
  if (!isAnyoneSignedIn) return showMistake(context, parameters, faulty, call)
  logMistake(context, parameters, faulty.mistake, 'answer', call)
  return refuse(context, { ...row, parameters }, { mistake: faulty.mistake })
}

async function nextPage(
  context: Context,
  { browser, row, now }: OpenedRequest,
  state: RequestState,
  call: Call,
): Promise<PageAnswer> {
  const { asked, people, chosen } = state
  const { registration, recovery } = row.progress
  // The former value of the cookie is not told who is signed in.
  if (recovery && (recovery.userId === undefined || browser.isPresent)) {
    if (!recovery.passkey || !browser.isPresent) return recoveryPage(recovery, now)
    const step = await recoveryStep(context, { row, browser, now }, recovery.passkey, call)
    return step ?? recoveryPage({ ...recovery, error: RecoveryError.RECOVERY_ERROR_CODE_WRONG }, now)
  }
  if (registration)
    return (await mayRegister(context, state))
      ? registrationPage(registration, now)
      : signInPage(row, now, SignInError.SIGN_IN_ERROR_REGISTRATION_CLOSED)
  const { mailed, proved } = row.progress
  if (proved?.registersIn && browser.isPresent) return providerRegistrationPage(proved, now)
  if (mailed && browser.isPresent && (await asksForCode(context, { row }, state))) return mailedCodePage(mailed)
  const able = people.filter(isAdmitted)
  if (row.parameters.invitation)
    return nextOfInvitation(
      context,
      { row, browser, now },
      state,
      (kinds, person) => factorPage(context, kinds, { row, now }, person),
      call,
    )
  if (!asked || !chosen) return withoutChoice(state, able, { row, now })
  const { signedInUser, reads, verdict } = chosen
  const ask = (lacking: Missing | ShutOut) => askFor(context, lacking, { row, now }, { asked, chosen, able })
  if ('missing' in verdict || 'shutOut' in verdict) return ask(verdict)
  const link = offerLink({ browser, row, now }, chosen)
  if (link) return link
  const offer = await offerPasskey(context, { browser, row, now }, chosen)
  if (offer) return offer
  if (isForOwnAccount(row.parameters)) return enterAccount(context, { browser, row }, chosen)
  const { parameters, progress } = row
  const facts = requestFacts(asked, row.beganAt, progress)
  const grantable = {
    stage: 'page',
    signedInUser,
    reads,
    browser,
    parameters,
    asked,
    facts,
    requestId: row.id,
  } as const
  try {
    const granted = await grantCode(context, grantable, call)
    if (!('code' in granted)) return ask(granted)
    return answerApplication(issuerOf(context.config), parameters, granted, true)
  } catch (error) {
    if (error instanceof Superseded) return showAnswered(context, { ...row, answer: 'given' })
    throw error
  }
}

function withoutChoice(
  { people }: RequestState,
  able: Candidate[],
  { row, now }: Pick<OpenedRequest, 'row' | 'now'>,
): PageAnswer {
  const { parameters, progress } = row
  if (progress.asksName) return signInPage(row, now)
  if (able.length > 0) return accountsPage(able)
  // The login hint, or a name that was typed, may be that of another person, who gets the form.
  const meant = people.filter((person) => parameters.loginHint === '' || isMeant(person, parameters.loginHint))
  if (progress.error !== undefined || meant.length === 0) return signInPage(row, now)
  const shutOut = meant.filter(({ verdict }) => 'shutOut' in verdict && verdict.shutOut !== 'other-person')
  return shutOut.length > 0 ? noAccessPage(shutOut) : signInPage(row, now, SignInError.SIGN_IN_ERROR_OTHER_PERSON)
}

async function mayRegister(context: Context, { requested, asked }: RequestState): Promise<boolean> {
  return (await registeringOrganization(context, { asked, ...requested })) !== undefined
}

/** The page that asks for a factor. */
const factorPages: Record<
  FactorKind,
  (row: RequestRow, person: Candidate, now: Date, context: Context) => PageAnswer | Promise<PageAnswer>
> = {
  password: (row, person, now) => signInPage(row, now, undefined, person),
  // It is mailed once the person asks for it.
  'mailed-code': (row, person, now) => signInPage(row, now, undefined, person),
  provider: (row, person, now) => signInPage(row, now, undefined, person),
  totp: (row, person, now, context) => totpPage(context, row, person, now),
  passkey: passkeyPage,
  'otp-email': otpEmailPage,
  'recovery-code': (row, person, now) => typedCodePage('recovery-code', row, person, now),
}

function factorPage(
  context: Context,
  kinds: readonly FactorKind[],
  { row, now }: Pick<OpenedRequest, 'row' | 'now'>,
  person: Candidate,
): PageAnswer | Promise<PageAnswer> {
  return factorPages[askedFirst(kinds, person.user, person.signedInUser.policy, row.progress.way)](
    row,
    person,
    now,
    context,
  )
}

function askFor(
  context: Context,
  lacking: Missing | ShutOut,
  { row, now }: Pick<OpenedRequest, 'row' | 'now'>,
  { asked, chosen, able }: { asked: Asked; chosen: Candidate; able: Candidate[] },
): PageAnswer | Promise<PageAnswer> {
  if ('shutOut' in lacking)
    return lacking.shutOut === 'other-person'
      ? signInPage(row, now, SignInError.SIGN_IN_ERROR_OTHER_PERSON)
      : noAccessPage([chosen])
  const [lack] = lacking.missing
  switch (lack.what) {
    case 'person':
      return signInPage(row, now)
    case 'account':
      return accountsPage(able)
    case 'factor':
      return factorPage(context, lack.kinds, { row, now }, chosen)
    case 'fresh-factor':
      return lack.acr ? factorPage(context, lack.kinds, { row, now }, chosen) : signInPage(row, now, undefined, chosen)
    case 'new-password':
      return newPasswordPage(row, chosen, now)
    case 'unmet-context':
      return refuse(context, row, { fault: 'unmet_authentication_requirements' })
    case 'consent':
      return consentPage(chosen, lack.scopes, { ...asked, tooMany: row.progress.tooMany })
    case 'click':
      return consentPage(chosen, [], { ...asked, clickOnly: true })
  }
}
