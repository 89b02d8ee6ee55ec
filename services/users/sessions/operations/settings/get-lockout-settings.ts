import { type GetLockoutSettingsResponse, ResourceOwnerType } from '#gen/roster/users/v1/settings_service'
import type { Call } from '#lib/rpc/headers'
import type { Context } from '../../../context.ts'
import { type LoginPolicySettings, loginPolicyType } from '../../events/login-policy.ts'
import { loadLoginPolicy } from '../../login-policy/load-login-policy.ts'
import { attemptsOf } from './get-login-policy.ts'

/** A second factor is not locked by the policy: it has limits that cannot be set. */
export async function getLockoutSettings(
  context: Context,
  _request: object,
  { organizationId }: Call,
): Promise<GetLockoutSettingsResponse> {
  const [policy, own] = await Promise.all([
    loadLoginPolicy(context, organizationId),
    context.store.load<LoginPolicySettings>(loginPolicyType, organizationId),
  ])
  const resourceOwnerType = own?.state.maxPasswordAttempts
    ? ResourceOwnerType.RESOURCE_OWNER_TYPE_ORG
    : ResourceOwnerType.RESOURCE_OWNER_TYPE_INSTANCE
  return { settings: { maxPasswordAttempts: attemptsOf(policy), maxOtpAttempts: 0, resourceOwnerType } }
}
