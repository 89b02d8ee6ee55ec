import {
  type Account,
  CodeError,
  type PageAnswer,
  RecoveryError,
  RegistrationError,
  SignInError,
} from '#gen/roster/users/v1/sign_in_service'
import { show } from '../../openid/authorization/answer.ts'
import type { Candidate } from '../../openid/authorization/candidates.ts'
import { passwordLengths } from '../../directory/passwords/password-lengths.ts'
import type { MailedSignIn, Progress, ProvedHere, RequestRow } from '../../openid/request/request-row.ts'

/** Name and password; of a known person, the password alone. */
export function signInPage(
  { parameters, progress }: RequestRow,
  now: Date,
  reason: SignInError = SignInError.SIGN_IN_ERROR_UNSPECIFIED,
  known?: Candidate,
): PageAnswer {
  const { loginName = parameters.loginHint.slice(0, 500), retryAt, error = reason } = progress
  return show({
    $case: 'signIn',
    value: {
      loginName: known?.knownName ?? loginName,
      nameIsFixed: known !== undefined,
      error,
      retryAfter: secondsUntil(retryAt, now),
      mayRegister: false,
      providers: [],
      linksProvider: '',
      hidesPasswordReset: false,
      recovers: true,
      keep: undefined,
      passkey: undefined,
      mailsCode: false,
      asksNameAlone: false,
      withoutPassword: false,
    },
  })
}

/** The code that was mailed to whoever has the name. */
export function mailedCodePage({
  loginName,
  userId,
  error = CodeError.CODE_ERROR_UNSPECIFIED,
}: MailedSignIn): PageAnswer {
  return show({
    $case: 'mailedCode',
    value: { loginName, nameIsFixed: userId !== undefined, error, retryAfter: 0, keep: undefined },
  })
}

/** What a person types to register; then the code that was mailed. */
export function registrationPage(registration: NonNullable<Progress['registration']>, now: Date): PageAnswer {
  const { email, givenName, familyName, isMailed, retryAt } = registration
  const { error = RegistrationError.REGISTRATION_ERROR_UNSPECIFIED } = registration
  const asked = { email, error, retryAfter: secondsUntil(retryAt, now) }
  return isMailed
    ? show({
        $case: 'registrationCode',
        value: { ...asked, ...passwordLengths(), keep: undefined, withoutPassword: false },
      })
    : show({ $case: 'registration', value: { ...asked, givenName, familyName } })
}

/** Whose password is forgotten; then the code that was mailed. */
export function recoveryPage(recovery: NonNullable<Progress['recovery']>, now: Date): PageAnswer {
  const { loginName, userId, isAsked, error = RecoveryError.RECOVERY_ERROR_UNSPECIFIED, retryAt } = recovery
  return isAsked
    ? show({
        $case: 'recoveryCode',
        value: {
          loginName,
          error,
          retryAfter: secondsUntil(retryAt, now),
          ...passwordLengths(),
          keep: undefined,
          offersPasskey: false,
          providers: [],
        },
      })
    : show({ $case: 'recovery', value: { loginName, nameIsFixed: userId !== undefined, providers: [] } })
}

export function secondsUntil(time: string | undefined, now: Date): number {
  return time === undefined ? 0 : Math.max(0, Math.ceil((Date.parse(time) - now.getTime()) / 1000))
}

export function accountsPage(candidates: Candidate[]): PageAnswer {
  return show({ $case: 'accounts', value: { accounts: candidates.map(accountOf) } })
}

/** The application lets none of these in. */
export function noAccessPage(candidates: Candidate[]): PageAnswer {
  return show({ $case: 'noAccess', value: { accounts: candidates.map(accountOf) } })
}

/** Without scopes, the first use is all that is asked for; or not even that, but a click. */
export function consentPage(
  candidate: Candidate,
  scopes: readonly string[],
  asked: { actsInRoster: boolean; clickOnly?: boolean; tooMany?: boolean | undefined },
): PageAnswer {
  const account = accountOf(candidate)
  const { actsInRoster, clickOnly = false, tooMany = false } = asked
  return show({ $case: 'consent', value: { account, scopes: [...scopes], actsInRoster, clickOnly, tooMany } })
}

export function accountOf({ signedInUser, displayName, knownName }: Candidate): Account {
  return { sessionId: signedInUser.sessionId, displayName, loginName: knownName }
}

/** What an account still needs whose person a provider has proved. */
export function providerRegistrationPage(
  { provider, userName, email, givenName, familyName, error, retryAt }: ProvedHere,
  now: Date,
): PageAnswer {
  return show({
    $case: 'providerRegistration',
    value: {
      provider,
      userName,
      email,
      givenName,
      familyName,
      error: error ?? RegistrationError.REGISTRATION_ERROR_UNSPECIFIED,
      retryAfter: secondsUntil(retryAt, now),
    },
  })
}
