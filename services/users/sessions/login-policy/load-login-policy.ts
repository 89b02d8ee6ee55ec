import { instance } from '#lib/instance'
import type { Context } from '../../context.ts'
import { type KeepSignedIn, type LoginPolicySettings, loginPolicyType } from '../events/login-policy.ts'
import type { FactorKind } from '../events/session.ts'
import { findProviders, withoutSecondFactors } from '../factors/provider/known-providers.ts'
import { isWayOut, secondFactors } from '../factors/kinds.ts'
import { relyingPartyId } from '../factors/passkey/relying-party.ts'
import { defaultPolicy, type LoginPolicy } from './login-policy.ts'

/**
 * The policy of an organization, or of the instance, as it is now. What is asked of one person says `loadPersonPolicy`.
 * UNAVAILABLE STORE_UNAVAILABLE.
 */
export async function loadLoginPolicy(
  { config, store, sql }: Pick<Context, 'config' | 'store' | 'sql'>,
  organizationId: string,
): Promise<LoginPolicy> {
  const [ofInstance, own] = await Promise.all(
    [instance.id, organizationId].map((id) => store.load<LoginPolicySettings>(loginPolicyType, id)),
  )
  const { idpIds, domains = [] } = listed(ofInstance?.state, own?.state)
  const found = await findProviders(sql, idpIds, organizationId)
  // An organization does not loosen what the instance demands.
  const providers = ofInstance?.state.forceMfa ? withoutSecondFactors(found) : found
  const providerDomains = domains.filter(({ idpId }) => providers.some((one) => one.idpId === idpId))
  return { ...policyOf(ofInstance?.state, own?.state, config), providers, providerDomains }
}

/** The identity providers that the policy of an organization lists, with those that have no effect. UNAVAILABLE STORE_UNAVAILABLE. */
export async function findListedProviders({ store }: Pick<Context, 'store'>, organizationId: string) {
  const [ofInstance, own] = await Promise.all(
    [instance.id, organizationId].map((id) => store.load<LoginPolicySettings>(loginPolicyType, id)),
  )
  return listed(ofInstance?.state, own?.state).idpIds
}

// The providers that people sign in by, whether there are such or not.
function listed(
  ofInstance: LoginPolicySettings = {},
  own: LoginPolicySettings = {},
): NonNullable<LoginPolicySettings['identityProviders']> {
  // What an organization says of its own list counts alone.
  const nearest = own.identityProviders ? own : { ...ofInstance, ...own }
  const none = { idpIds: [] }
  return nearest.allowExternalIdp === false ? none : (nearest.identityProviders ?? none)
}

/** What an organization sets beside the instance, without providers: in what secures a sign-in, the stricter of both holds. Pure. */
export function policyOf(
  ofInstance: LoginPolicySettings = {},
  own: LoginPolicySettings = {},
  config: Pick<Context['config'], 'SESSION_LIFETIME' | 'KEPT_SESSION_LIFETIME' | 'PUBLIC_URL' | 'PASSKEY_RP_ID'>,
): LoginPolicy {
  const { SESSION_LIFETIME, KEPT_SESSION_LIFETIME } = config
  const { allowMailedCodes: _, allowUsernamePassword: __, ...policy } = { ...defaultPolicy, ...ofInstance, ...own }
  const all = [ofInstance, own]
  const isSet = (name: 'forceMfa' | 'forceMfaOfAdministrators' | 'hidePasswordReset') => all.some((one) => one[name])
  const shorter = (name: 'passwordCheckLifetime' | 'secondFactorCheckLifetime' | 'multiFactorCheckLifetime') =>
    Math.min(...all.map(({ [name]: lifetime = Infinity }) => lifetime))
  // An operator may have made sessions shorter since.
  const atMost = (lifetime: number) => Math.min(shorter('passwordCheckLifetime'), lifetime)
  return {
    ...policy,
    // Neither is the stricter one, so what the instance says holds.
    factors: [firstOf(ofInstance, own)],
    forceMfa: isSet('forceMfa'),
    forceMfaOfAdministrators: isSet('forceMfaOfAdministrators'),
    hidePasswordReset: isSet('hidePasswordReset'),
    // Where the instance says nothing of it, each organization decides.
    allowPasskeys: policy.allowPasskeys && ofInstance.allowPasskeys !== false,
    passkeyRpId: relyingPartyId(config),
    trustedBrowserDays: Math.min(ofInstance.trustedBrowserDays ?? 0, own.trustedBrowserDays ?? Infinity),
    maxPasswordAttempts: Math.min(...all.map((one) => one.maxPasswordAttempts || Infinity)),
    secondFactors: narrowed(narrowed(secondFactors, ofInstance), own),
    keepSignedIn: ofInstance.keepSignedIn
      ? stricter(ofInstance.keepSignedIn, policy.keepSignedIn)
      : policy.keepSignedIn,
    passwordCheckLifetime: atMost(SESSION_LIFETIME),
    keptCheckLifetime: atMost(KEPT_SESSION_LIFETIME),
    secondFactorCheckLifetime: shorter('secondFactorCheckLifetime'),
    multiFactorCheckLifetime: shorter('multiFactorCheckLifetime'),
  }
}

function firstOf(ofInstance: LoginPolicySettings, own: LoginPolicySettings): FactorKind {
  if (ofInstance.allowMailedCodes ?? own.allowMailedCodes) return 'mailed-code'
  // Methods of ZITADEL may have emptied the list since.
  const hasProviders = (own.identityProviders?.idpIds.length ?? 0) > 0 && own.allowExternalIdp !== false
  return own.allowUsernamePassword === false && hasProviders ? 'provider' : 'password'
}

const keeping: KeepSignedIn[] = ['off', 'allowed', 'always']

function stricter(one: KeepSignedIn, other: KeepSignedIn): KeepSignedIn {
  return keeping.find((how) => how === one || how === other)!
}

// An organization cannot widen what the instance allows, nor leave nothing of it.
function narrowed(allowed: LoginPolicy['secondFactors'], settings: LoginPolicySettings): LoginPolicy['secondFactors'] {
  const kinds = settings.secondFactors?.kinds
  const left = kinds ? allowed.filter((kind) => (kinds as readonly string[]).includes(kind)) : allowed
  return left.every(isWayOut) ? allowed : left
}
