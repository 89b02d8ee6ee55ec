import { instance } from '#lib/instance'
import type { Context } from '../../context.ts'
import { type LoginPolicySettings, loginPolicyType } from '../events/login-policy.ts'
import { isWayOut, secondFactors } from '../factors/kinds.ts'
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
    secondFactors: narrowed(narrowed(secondFactors, ofInstance?.state), own?.state),
    passwordCheckLifetime: atMost(config.SESSION_LIFETIME),
    keptCheckLifetime: atMost(config.KEPT_SESSION_LIFETIME),
  }
}

// An organization cannot widen what the instance allows, nor leave nothing of it.
function narrowed(
  allowed: LoginPolicy['secondFactors'],
  settings: LoginPolicySettings | undefined,
): LoginPolicy['secondFactors'] {
  const kinds = settings?.secondFactors?.kinds
  const left = kinds ? allowed.filter((kind) => (kinds as readonly string[]).includes(kind)) : allowed
  return left.every(isWayOut) ? allowed : left
}
