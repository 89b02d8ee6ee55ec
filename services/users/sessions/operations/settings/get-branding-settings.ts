import {
  type BrandingTheme,
  type GetBrandingSettingsRequest,
  type GetBrandingSettingsResponse,
  ResourceOwnerType,
  ThemeMode,
} from '#gen/roster/users/v1/settings_service'
import { instance } from '#lib/instance'
import { permissionDenied } from '#lib/rpc/authorize'
import { holds } from '#lib/rpc/caller'
import type { Call } from '#lib/rpc/headers'
import type { Context } from '../../../context.ts'
import { issuerOf } from '../../../directory/issuer.ts'
import { own } from '../../login-policy/brand.ts'
import { loadLoginPolicy } from '../../login-policy/load-login-policy.ts'
import { type LoginPolicySettings, loginPolicyType } from '../../events/login-policy.ts'

export const getBrandingSettings = {
  permit(request: GetBrandingSettingsRequest, { caller }: Call): void {
    if (request.instance && !holds(caller, 'iam.policy.read')) throw permissionDenied()
  },

  handle(context: Context, request: GetBrandingSettingsRequest, call: Call): Promise<GetBrandingSettingsResponse> {
    return brandOf(context, request.instance ? instance.id : call.organizationId)
  },
}

async function brandOf(context: Context, organizationId: string): Promise<GetBrandingSettingsResponse> {
  const [{ brand }, set] = await Promise.all([
    loadLoginPolicy(context, organizationId),
    context.store.load<LoginPolicySettings>(loginPolicyType, organizationId),
  ])
  const urlOf = (hash: string | undefined) => (hash === undefined ? '' : `${issuerOf(context.config)}/ui/logo/${hash}`)
  const theme = (name: 'lightTheme' | 'darkTheme'): BrandingTheme => {
    const { primaryColor, backgroundColor } = { ...own[name], ...brand?.[name] }
    const logoHash = (name === 'darkTheme' ? brand?.darkLogoHash : undefined) ?? brand?.logoHash
    return { primaryColor, backgroundColor, logoUrl: urlOf(logoHash), iconUrl: urlOf(brand?.iconHash) }
  }
  return {
    settings: {
      lightTheme: theme('lightTheme'),
      darkTheme: theme('darkTheme'),
      hideLoginNameSuffix: true,
      disableWatermark: true,
      themeMode: ThemeMode.THEME_MODE_AUTO,
      resourceOwnerType:
        set?.state?.brand && organizationId !== instance.id
          ? ResourceOwnerType.RESOURCE_OWNER_TYPE_ORG
          : ResourceOwnerType.RESOURCE_OWNER_TYPE_INSTANCE,
    },
  }
}
