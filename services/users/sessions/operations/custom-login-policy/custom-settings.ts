import type { CustomLoginPolicySettings } from '#gen/roster/users/v1/custom_login_policy_service'
import type { LoginPolicySettings as Sent } from '#gen/roster/users/v1/login_policy_service'
import { MultiFactorType, PasskeysType, type SecondFactorType } from '#gen/roster/users/v1/settings_service'
import type { SecondFactorKind } from '../../../directory/events/human.ts'
import type { LoginPolicySettings } from '../../events/login-policy.ts'
import { factorKinds, isWayOut, secondFactors } from '../../factors/kinds.ts'
import { durationOf } from '../settings/get-login-policy.ts'
import type { LoginPolicy } from '../../login-policy/login-policy.ts'

/** What ZITADEL's policy has of a policy. All else stays as it is. */
const names = [
  'allowRegister',
  'forceMfa',
  'allowPasskeys',
  'hidePasswordReset',
  'defaultRedirectUri',
  'passwordCheckLifetime',
  'externalLoginCheckLifetime',
  'mfaInitSkipLifetime',
  'secondFactorCheckLifetime',
  'multiFactorCheckLifetime',
  'allowDomainDiscovery',
  'disableLoginWithPhone',
  'secondFactors',
  'allowExternalIdp',
  'identityProviders',
] as const

/** Whether the organization sets some of it itself. */
export function isCustom(own: LoginPolicySettings): boolean {
  return names.some((name) => own[name] !== undefined)
}

/** The settings that ZITADEL's policy does not have. */
export function withoutCustom(own: LoginPolicySettings): LoginPolicySettings {
  return Object.fromEntries(Object.entries(own).filter(([name]) => !(names as readonly string[]).includes(name)))
}

/** The same settings as UpdateLoginPolicy takes them. */
export function sentAs({ passkeysType, ...sent }: CustomLoginPolicySettings): Sent {
  // What may only be as it is says nothing that has to be kept.
  const {
    allowUsernamePassword: _1,
    ignoreUnknownUsernames: _3,
    disableLoginWithEmail: _5,
    forceMfaLocalOnly: _6,
    ...settings
  } = sent
  return {
    ...settings,
    allowPasskeys: passkeysType === PasskeysType.PASSKEYS_TYPE_ALLOWED,
  }
}

/** What is set, and where nothing is, what holds. */
export function shownSettings(own: LoginPolicySettings, policy: LoginPolicy): CustomLoginPolicySettings {
  const { allowPasskeys, ...set } = { ...policy, ...own }
  return {
    allowUsernamePassword:
      own.allowMailedCodes === undefined ? policy.factors.includes('password') : !own.allowMailedCodes,
    allowRegister: set.allowRegister,
    allowExternalIdp: own.allowExternalIdp ?? (own.identityProviders?.idpIds ?? policy.providers).length > 0,
    forceMfa: set.forceMfa,
    passkeysType: allowPasskeys ? PasskeysType.PASSKEYS_TYPE_ALLOWED : PasskeysType.PASSKEYS_TYPE_NOT_ALLOWED,
    hidePasswordReset: set.hidePasswordReset,
    ignoreUnknownUsernames: true,
    defaultRedirectUri: set.defaultRedirectUri,
    passwordCheckLifetime: durationOf(set.passwordCheckLifetime),
    externalLoginCheckLifetime: durationOf(set.externalLoginCheckLifetime),
    mfaInitSkipLifetime: durationOf(set.mfaInitSkipLifetime),
    secondFactorCheckLifetime: durationOf(set.secondFactorCheckLifetime),
    multiFactorCheckLifetime: durationOf(set.multiFactorCheckLifetime),
    allowDomainDiscovery: set.allowDomainDiscovery,
    disableLoginWithEmail: false,
    disableLoginWithPhone: set.disableLoginWithPhone ?? true,
    forceMfaLocalOnly: false,
  }
}

/** The lists of factors, likewise. */
export function shownFactors(own: LoginPolicySettings, policy: LoginPolicy) {
  const allowsPasskeys = own.allowPasskeys ?? policy.allowPasskeys
  const kinds = own.secondFactors?.kinds ?? policy.secondFactors.filter((kind) => kind !== 'passkey' || allowsPasskeys)
  return {
    secondFactors: kinds
      .flatMap((kind): SecondFactorType[] => (isWayOut(kind) ? [] : [factorKinds[kind].second!.type]))
      .toSorted((one, other) => one - other),
    multiFactors: allowsPasskeys ? [MultiFactorType.MULTI_FACTOR_TYPE_U2F_WITH_VERIFICATION] : [],
  }
}

/** The ids of the listed providers, likewise. */
export function shownIdpIds(own: LoginPolicySettings, policy: LoginPolicy): string[] {
  return own.identityProviders?.idpIds ?? policy.providers.map(({ idpId }) => idpId)
}

/** A list of factors as it is stored: in one order, so that the same settings are the same. */
export function listOf(kinds: readonly (string | undefined)[]): { kinds: SecondFactorKind[] } {
  return { kinds: secondFactors.filter((kind) => kinds.includes(kind)) as SecondFactorKind[] }
}
