import { instance } from '#lib/instance'
import type { Context } from '../../context.ts'
import { type LoginPolicySettings, loginPolicyType } from '../events/login-policy.ts'
import { defaultPolicy, type LoginPolicy } from './login-policy.ts'

/** The policy of an organization, or of the instance, as it is now. UNAVAILABLE STORE_UNAVAILABLE. */
export async function loadLoginPolicy(
  { config, store }: Pick<Context, 'config' | 'store'>,
  organizationId: string,
): Promise<LoginPolicy> {
  const [ofInstance, own] = await Promise.all(
    [instance.id, organizationId].map((id) => store.load<LoginPolicySettings>(loginPolicyType, id)),
  )
  const policy = { ...defaultPolicy, ...ofInstance?.state, ...own?.state }
  const forceMfa = ofInstance?.state.forceMfa === true || own?.state.forceMfa === true
  // An operator may have made sessions shorter since.
  const atMost = (lifetime: number) => Math.min(policy.passwordCheckLifetime, lifetime)
  return {
    ...policy,
    forceMfa,
    passwordCheckLifetime: atMost(config.SESSION_LIFETIME),
    keptCheckLifetime: atMost(config.KEPT_SESSION_LIFETIME),
  }
}
