import type { UsersAuthenticationMethodType, UsersSignInClient, UsersSignInFailureCause } from '#gen/console/api'
import { words } from './words.ts'

/** What was checked, in this order. A provider is called by its name, where that is known. */
export function sayFactors(factors: UsersAuthenticationMethodType[] = [], provider = ''): string {
  const names: Record<string, string> = { ...words, ...(provider && { IDP: provider }) }
  return factors.map((factor) => names[factor.replace('AUTHENTICATION_METHOD_TYPE_', '')] ?? factor).join(', ')
}

export function sayClient({ browser, system, address }: UsersSignInClient = {}): string {
  return [browser, system, address].filter(Boolean).join(', ')
}

export function sayFailure(cause: UsersSignInFailureCause | undefined): string {
  switch (cause) {
    case 'SIGN_IN_FAILURE_CAUSE_PASSWORD_WRONG':
      return words.passwordWrong
    case 'SIGN_IN_FAILURE_CAUSE_CODE_WRONG':
      return words.codeWrong
    case 'SIGN_IN_FAILURE_CAUSE_PASSKEY_REFUSED':
      return words.passkeyRefused
    case 'SIGN_IN_FAILURE_CAUSE_USER_NOT_ACTIVE':
      return words.notActive
    case 'SIGN_IN_FAILURE_CAUSE_THROTTLED':
      return words.throttled
    default:
      return words.unknownCause
  }
}
