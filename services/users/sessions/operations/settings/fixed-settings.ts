import {
  type GetDomainSettingsResponse,
  type GetGeneralSettingsResponse,
  type GetPasswordComplexitySettingsResponse,
  type GetPasswordExpirySettingsResponse,
  type GetSecuritySettingsResponse,
  ResourceOwnerType,
} from '#gen/roster/users/v1/settings_service'
import { instance } from '#lib/instance'
import { languages } from '../../../directory/languages.ts'
import { passwordLengths } from '../../../directory/passwords/password-lengths.ts'

// What cannot be set.
const ofInstance = { resourceOwnerType: ResourceOwnerType.RESOURCE_OWNER_TYPE_INSTANCE }

export async function getGeneralSettings(): Promise<GetGeneralSettingsResponse> {
  const [defaultLanguage] = languages
  return { defaultOrgId: instance.organization.id, defaultLanguage, supportedLanguages: [...languages] }
}

export async function getPasswordComplexitySettings(): Promise<GetPasswordComplexitySettingsResponse> {
  const free = { requiresUppercase: false, requiresLowercase: false, requiresNumber: false, requiresSymbol: false }
  return { settings: { minLength: passwordLengths().passwordMin, ...free, ...ofInstance } }
}

export async function getPasswordExpirySettings(): Promise<GetPasswordExpirySettingsResponse> {
  return { settings: { maxAgeDays: 0, expireWarnDays: 0, ...ofInstance } }
}

export async function getDomainSettings(): Promise<GetDomainSettingsResponse> {
  const domains = {
    loginNameIncludesDomain: false,
    requireOrgDomainVerification: false,
    smtpSenderAddressMatchesInstanceDomain: false,
  }
  return { settings: { ...domains, ...ofInstance } }
}

export async function getSecuritySettings(): Promise<GetSecuritySettingsResponse> {
  return { settings: { embeddedIframe: { enabled: false }, enableImpersonation: false } }
}
