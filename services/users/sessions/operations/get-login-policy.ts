import type { GetLoginPolicyRequest, GetLoginPolicyResponse } from '#gen/roster/users/v1/login_policy_service'
import { details } from '#lib/eventstore/aggregate'
import type { Call } from '#lib/rpc/headers'
import type { Context } from '../../context.ts'
import { findLogo } from '../login-policy/logos.ts'
import { loadLoginPolicy } from '../login-policy/load-login-policy.ts'
import { type LoginPolicySettings, loginPolicyType } from '../events/login-policy.ts'

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
    policy: { ...whatIsBuilt, ...policy, ...(await shown(context, policy)) },
    settings: { ...own?.state, ...(await shown(context, own?.state ?? {})) },
    details: own && details(own),
  }
}

const whatIsBuilt = {
  allowUsernamePassword: true,
  ignoreUnknownUsernames: true,
  allowExternalIdp: false,
  allowPasskeys: false,
}

async function shown(
  { sql }: Context,
  { passwordCheckLifetime: seconds, brand }: Pick<LoginPolicySettings, 'passwordCheckLifetime' | 'brand'>,
) {
  const logo = brand?.logoHash === undefined ? Buffer.alloc(0) : await findLogo(sql, brand.logoHash)
  return {
    passwordCheckLifetime: seconds === undefined ? undefined : { seconds, nanos: 0 },
    brand: brand && { ...brand, logo },
  }
}
