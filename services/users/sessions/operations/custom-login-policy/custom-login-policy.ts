import type {
  AddCustomLoginPolicyRequest,
  CustomLoginPolicySettings,
  GetCustomLoginPolicyResponse,
  UpdateCustomLoginPolicyRequest,
} from '#gen/roster/users/v1/custom_login_policy_service'
import { PasskeysType } from '#gen/roster/users/v1/settings_service'
import { orUnavailable } from '#lib/database/database'
import { invalid, RosterError, type Violation } from '#lib/errors'
import { details } from '#lib/eventstore/aggregate'
import { instance } from '#lib/instance'
import type { Call } from '#lib/rpc/headers'
import type { Context } from '../../../context.ts'
import { type LoginPolicySettings, loginPolicyType } from '../../events/login-policy.ts'
import { isWayOut, kindOfSecond, secondFactors } from '../../factors/kinds.ts'
import { faultsOf, given } from '../settings/update-login-policy.ts'
import { loadLoginPolicy } from '../../login-policy/load-login-policy.ts'
import { change, neverSet } from './change.ts'
import { isCustom, listOf, sentAs, shownFactors, shownIdpIds, shownSettings, withoutCustom } from './custom-settings.ts'

export async function getCustomLoginPolicy(
  context: Context,
  _request: object,
  { organizationId }: Pick<Call, 'organizationId'>,
): Promise<GetCustomLoginPolicyResponse> {
  const [policy, aggregate] = await Promise.all([
    loadLoginPolicy(context, organizationId),
    context.store.load<LoginPolicySettings>(loginPolicyType, organizationId),
  ])
  const own = aggregate?.state ?? {}
  return {
    policy: {
      details: aggregate ? details(aggregate) : neverSet(organizationId),
      isDefault: !isCustom(own),
      settings: shownSettings(own, policy),
      ...shownFactors(own, policy),
      identityProviders: await named(context, shownIdpIds(own, policy)),
    },
  }
}

export const addCustomLoginPolicy = {
  check(
    { config }: Context,
    { settings, secondFactors: types, multiFactors, identityProviders }: AddCustomLoginPolicyRequest,
  ): Violation[] {
    const kinds = types.map(kindOfSecond)
    const isEnough = kinds.every((kind) => kind !== undefined) && kinds.some((kind) => !isWayOut(kind))
    const allowsPasskeys = settings?.passkeysType === PasskeysType.PASSKEYS_TYPE_ALLOWED
    return [
      ...faultsOfSettings(settings, config),
      ...(isEnough ? [] : [{ field: 'secondFactors', description: 'must have one at least that is no recovery code' }]),
      ...(new Set(identityProviders.map(({ idpId }) => idpId)).size === identityProviders.length
        ? []
        : [{ field: 'identityProviders', description: 'must name each one once' }]),
      ...(multiFactors.length > 0 === allowsPasskeys ? [] : [{ field: 'multiFactors', description: sameSetting }]),
    ]
  },

  handle(context: Context, { settings, secondFactors: types, ...listed }: AddCustomLoginPolicyRequest, call: Call) {
    return change(context, call, (own, ofInstance) => {
      refuseOtherFirst(settings!, own, ofInstance)
      if (isCustom(own))
        throw new RosterError(
          'ALREADY_EXISTS',
          'LOGIN_POLICY_EXISTS',
          'The organization has a login policy of its own.',
        )
      // Recovery codes have no name in ZITADEL's lists, and would be lost to people who lose a phone.
      const kinds = [...types.map(kindOfSecond), ...secondFactors.filter(isWayOut)]
      const identityProviders = { idpIds: listed.identityProviders.map(({ idpId }) => idpId) }
      return { ...withoutCustom(own), ...given(sentAs(settings!), {}), secondFactors: listOf(kinds), identityProviders }
    })
  },
}

export const updateCustomLoginPolicy = {
  check: ({ config }: Context, { settings }: UpdateCustomLoginPolicyRequest) => faultsOfSettings(settings, config),

  handle(context: Context, { settings }: UpdateCustomLoginPolicyRequest, call: Call) {
    return change(context, call, (own, ofInstance) => {
      refuseOtherFirst(settings!, own, ofInstance)
      refuseDefault(own, call)
      const { secondFactors: list, identityProviders } = own
      const lists = { ...(list && { secondFactors: list }), ...(identityProviders && { identityProviders }) }
      return { ...withoutCustom(own), ...given(sentAs(settings!), {}), ...lists }
    })
  },
}

export function resetCustomLoginPolicy(context: Context, _request: object, call: Call) {
  return change(context, call, withoutCustom)
}

// Also those that have no effect: whoever reads the list has to find what was put into it.
async function named({ sql }: Pick<Context, 'sql'>, idpIds: string[]) {
  const found = await orUnavailable(sql<{ idpId: string; name: string }[]>`
    select idp_id as "idpId", name from identity_providers where idp_id = any(${idpIds})
  `)
  return idpIds.map((idpId) => ({ idpId, idpName: found.find((one) => one.idpId === idpId)?.name ?? '' }))
}

function faultsOfSettings(settings: CustomLoginPolicySettings | undefined, config: Context['config']): Violation[] {
  return settings ? faultsOf(sentAs(settings), config, false) : []
}

// ZITADEL's policy has no name for codes by mail, so it neither begins nor ends them.
function refuseOtherFirst(
  { allowUsernamePassword }: CustomLoginPolicySettings,
  own: LoginPolicySettings,
  ofInstance: LoginPolicySettings,
): void {
  const isByMail = ofInstance.allowMailedCodes ?? own.allowMailedCodes ?? false
  if (allowUsernamePassword !== isByMail) return
  const description = isByMail
    ? 'must be false: people sign in with codes by mail, until UpdateLoginPolicy changes that'
    : 'must be true: UpdateLoginPolicy alone puts codes by mail in place of passwords'
  throw invalid([{ field: 'settings.allowUsernamePassword', description }])
}

export const sameSetting =
  'must say the same as passwordless_type (passkeys_type): where passkeys are allowed, a verified one counts as two factors'

/** NOT_FOUND LOGIN_POLICY_NOT_FOUND; the instance always has a policy. */
export function refuseDefault(own: LoginPolicySettings, { organizationId }: Pick<Call, 'organizationId'>): void {
  if (organizationId !== instance.id && !isCustom(own))
    throw new RosterError('NOT_FOUND', 'LOGIN_POLICY_NOT_FOUND', 'The organization has no login policy of its own.')
}
