import {
  type GetLoginPolicyRequest,
  type GetLoginPolicyResponse,
  KeepSignedIn,
} from '#gen/roster/users/v1/login_policy_service'
import { details } from '#lib/eventstore/aggregate'
import type { Call } from '#lib/rpc/headers'
import type { Context } from '../../../context.ts'
import { factorKinds } from '../../factors/kinds.ts'
import type { FactorKind } from '../../events/session.ts'
import { findLogo } from '../../login-policy/logos.ts'
import { loadLoginPolicy } from '../../login-policy/load-login-policy.ts'
import type { LoginPolicy } from '../../login-policy/login-policy.ts'
import { type LoginPolicySettings, loginPolicyType } from '../../events/login-policy.ts'

export async function getLoginPolicy(
  context: Context,
  _request: GetLoginPolicyRequest,
  { organizationId }: Call,
): Promise<GetLoginPolicyResponse> {
  const [policy, own] = await Promise.all([
    loadLoginPolicy(context, organizationId),
    context.store.load<LoginPolicySettings>(loginPolicyType, organizationId),
  ])
  return {
    policy: {
      ...whatIsBuilt,
      ...policy,
      ...(await shown(context, policy)),
      allowUsernamePassword: policy.factors.includes('password'),
      allowMailedCodes: policy.factors.includes('mailed-code'),
      allowExternalIdp: policy.providers.length > 0,
      identityProviders: policy.providers.map(({ idpId }) => idpId),
      providerDomains: [...policy.providerDomains],
      keepSignedIn: keepingOf[policy.keepSignedIn],
      maxPasswordAttempts: attemptsOf(policy),
      secondFactors: typesOf(policy.secondFactors.filter((kind) => kind !== 'passkey' || policy.allowPasskeys)),
    },
    settings: {
      ...own?.state,
      ...(await shown(context, own?.state ?? {})),
      // As it has to be sent.
      ...(own?.state.allowMailedCodes && { allowUsernamePassword: false }),
      identityProviders: own?.state.identityProviders && { domains: [], ...own.state.identityProviders },
      secondFactors: own?.state.secondFactors && { types: typesOf(own.state.secondFactors.kinds) },
    },
    details: own && details(own),
  }
}

function typesOf(kinds: readonly FactorKind[]) {
  return kinds.map((kind) => factorKinds[kind].second!.type)
}

/** 0: any number. */
export function attemptsOf({ maxPasswordAttempts: most }: Pick<LoginPolicy, 'maxPasswordAttempts'>): number {
  return most === Infinity ? 0 : most
}

/** Undefined: it has no end. */
export function durationOf(seconds = Infinity) {
  return seconds === Infinity ? undefined : { seconds, nanos: 0 }
}

const whatIsBuilt = {
  ignoreUnknownUsernames: true,
}

const keepingOf = {
  off: KeepSignedIn.KEEP_SIGNED_IN_OFF,
  allowed: KeepSignedIn.KEEP_SIGNED_IN_ALLOWED,
  always: KeepSignedIn.KEEP_SIGNED_IN_ALWAYS,
}

type Shown = keyof LoginPolicySettings & (`${string}Lifetime` | 'brand' | 'keepSignedIn')

async function shown(
  { sql }: Context,
  {
    passwordCheckLifetime: ofPassword,
    secondFactorCheckLifetime: ofSecond,
    multiFactorCheckLifetime: ofBoth,
    externalLoginCheckLifetime: elsewhere,
    mfaInitSkipLifetime: skipped,
    brand,
    keepSignedIn,
  }: Pick<LoginPolicySettings, Shown>,
) {
  const [logo, darkLogo, icon] = await Promise.all(
    [brand?.logoHash, brand?.darkLogoHash, brand?.iconHash].map(async (hash) =>
      hash === undefined ? Buffer.alloc(0) : findLogo(sql, hash),
    ),
  )
  return {
    passwordCheckLifetime: durationOf(ofPassword),
    secondFactorCheckLifetime: durationOf(ofSecond),
    multiFactorCheckLifetime: durationOf(ofBoth),
    externalLoginCheckLifetime: durationOf(elsewhere),
    mfaInitSkipLifetime: durationOf(skipped),
    brand: brand && { ...brand, logo: logo!, darkLogo: darkLogo!, icon: icon! },
    keepSignedIn: keepSignedIn && keepingOf[keepSignedIn],
  }
}
