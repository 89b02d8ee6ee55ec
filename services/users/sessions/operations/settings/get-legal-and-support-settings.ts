import {
  type GetLegalAndSupportSettingsRequest,
  type GetLegalAndSupportSettingsResponse,
  ResourceOwnerType,
} from '#gen/roster/users/v1/settings_service'
import { instance } from '#lib/instance'
import type { Call } from '#lib/rpc/headers'
import type { Context } from '../../../context.ts'
import { type LoginPolicySettings, loginPolicyType } from '../../events/login-policy.ts'
import { loadLoginPolicy } from '../../login-policy/load-login-policy.ts'
import { getBrandingSettings } from './get-branding-settings.ts'

export const getLegalAndSupportSettings = {
  permit: getBrandingSettings.permit,

  async handle(
    context: Context,
    request: GetLegalAndSupportSettingsRequest,
    call: Call,
  ): Promise<GetLegalAndSupportSettingsResponse> {
    const organizationId = request.instance ? instance.id : call.organizationId
    const [{ tosLink, privacyPolicyLink, helpLink }, set] = await Promise.all([
      loadLoginPolicy(context, organizationId),
      context.store.load<LoginPolicySettings>(loginPolicyType, organizationId),
    ])
    const own = [set?.state.tosLink, set?.state.privacyPolicyLink, set?.state.helpLink]
    const isOwn = organizationId !== instance.id && own.some((link) => link !== undefined)
    const resourceOwnerType = isOwn
      ? ResourceOwnerType.RESOURCE_OWNER_TYPE_ORG
      : ResourceOwnerType.RESOURCE_OWNER_TYPE_INSTANCE
    return { settings: { tosLink, privacyPolicyLink, helpLink, resourceOwnerType } }
  },
}
