import {
  type GetLoginSettingsRequest,
  type GetLoginSettingsResponse,
  MultiFactorType,
  PasskeysType,
  ResourceOwnerType,
} from '#gen/roster/users/v1/settings_service'
import { instance } from '#lib/instance'
import { permissionDenied } from '#lib/rpc/authorize'
import { holds } from '#lib/rpc/caller'
import type { Call } from '#lib/rpc/headers'
import type { Context } from '../../../context.ts'
import { getLoginPolicy } from './get-login-policy.ts'

export const getLoginSettings = {
  permit(request: GetLoginSettingsRequest, { caller }: Call): void {
    if (request.instance && !holds(caller, 'iam.policy.read')) throw permissionDenied()
  },

  async handle(context: Context, request: GetLoginSettingsRequest, call: Call): Promise<GetLoginSettingsResponse> {
    const organizationId = request.instance ? instance.id : call.organizationId
    const { policy, settings: own, details } = await getLoginPolicy(context, {}, { ...call, organizationId })
    // The brand is told by GetBrandingSettings; ZITADEL has no name for the last.
    const { allowPasskeys, brand: _, keepSignedIn: _ofRoster, ...settings } = policy!
    const isOwn =
      !request.instance &&
      Object.entries(own!).some(([name, value]) => !['brand', 'keepSignedIn'].includes(name) && value !== undefined)
    return {
      details,
      settings: {
        ...settings,
        multiFactors: allowPasskeys ? [MultiFactorType.MULTI_FACTOR_TYPE_U2F_WITH_VERIFICATION] : [],
        passkeysType: allowPasskeys ? PasskeysType.PASSKEYS_TYPE_ALLOWED : PasskeysType.PASSKEYS_TYPE_NOT_ALLOWED,
        disableLoginWithEmail: false,
        disableLoginWithPhone: true,
        forceMfaLocalOnly: false,
        resourceOwnerType: isOwn
          ? ResourceOwnerType.RESOURCE_OWNER_TYPE_ORG
          : ResourceOwnerType.RESOURCE_OWNER_TYPE_INSTANCE,
      },
    }
  },
}
