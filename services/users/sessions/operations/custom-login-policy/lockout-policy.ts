import type {
  GetLockoutPolicyResponse,
  SetLockoutPolicyRequest,
} from '#gen/roster/users/v1/custom_login_policy_service'
import { details } from '#lib/eventstore/aggregate'
import type { Call } from '#lib/rpc/headers'
import type { Context } from '../../../context.ts'
import { type LoginPolicySettings, loginPolicyType } from '../../events/login-policy.ts'
import { loadLoginPolicy } from '../../login-policy/load-login-policy.ts'
import { attemptsOf } from '../settings/get-login-policy.ts'
import { change, neverSet } from './change.ts'

export async function getLockoutPolicy(
  context: Context,
  _request: object,
  { organizationId }: Pick<Call, 'organizationId'>,
): Promise<GetLockoutPolicyResponse> {
  const [policy, aggregate] = await Promise.all([
    loadLoginPolicy(context, organizationId),
    context.store.load<LoginPolicySettings>(loginPolicyType, organizationId),
  ])
  const own = aggregate?.state.maxPasswordAttempts
  return {
    policy: {
      details: aggregate ? details(aggregate) : neverSet(organizationId),
      isDefault: own === undefined,
      maxPasswordAttempts: own ?? attemptsOf(policy),
      maxOtpAttempts: 0,
    },
  }
}

export function setLockoutPolicy(context: Context, { maxPasswordAttempts }: SetLockoutPolicyRequest, call: Call) {
  return change(context, call, (own) => {
    const { maxPasswordAttempts: _former, ...others } = own
    return maxPasswordAttempts === undefined ? others : { ...others, maxPasswordAttempts }
  })
}
