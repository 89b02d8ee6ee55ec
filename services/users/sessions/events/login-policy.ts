import type { SecondFactorKind } from '../../directory/events/human.ts'

/** The aggregate of what an organization sets for those who sign in. It has its id, or that of the instance. */
export const loginPolicyType = 'login.policy'

export type LoginPolicyEvent = { type: 'changed'; payload: LoginPolicySettings }

/** What is missing is as the instance has it; at the instance, it has its default. */
export interface LoginPolicySettings {
  /** An organization cannot loosen it. */
  forceMfa?: boolean
  /** Nor this one. */
  forceMfaOfAdministrators?: boolean
  /** Those that serve as a second factor. An organization cannot widen them. */
  secondFactors?: { kinds: SecondFactorKind[] }
  allowRegister?: boolean
  allowPasskeys?: boolean
  /** A mailed code signs in, and a password does not. What the instance sets holds everywhere. */
  allowMailedCodes?: boolean
  /** False: providers alone sign in, and neither a password nor a mailed code. Of organizations alone. */
  allowUsernamePassword?: false
  /** Pages ask for the name first, and lead to the provider of its domain. */
  allowDomainDiscovery?: boolean
  /** Those that people sign in by. An organization has its own list, or that of the instance. */
  identityProviders?: { idpIds: string[]; domains?: ProviderDomain[] }
  /** No: nobody signs in by the listed ones. */
  allowExternalIdp?: boolean
  /** See LoginPolicy. An organization has as many as the instance at most. */
  trustedBrowserDays?: number
  /** See LoginPolicy. 0: never. */
  maxPasswordAttempts?: number
  hidePasswordReset?: boolean
  defaultRedirectUri?: string
  /** See LoginPolicy. */
  tellOfSignIns?: boolean
  /** In seconds. */
  passwordCheckLifetime?: number
  /** Likewise. */
  secondFactorCheckLifetime?: number
  multiFactorCheckLifetime?: number
  /** These three are kept for those who set them, and nothing reads them. */
  externalLoginCheckLifetime?: number
  mfaInitSkipLifetime?: number
  disableLoginWithPhone?: boolean
  keepSignedIn?: KeepSignedIn
  /** Of the foot of pages. Empty: none. */
  tosLink?: string
  privacyPolicyLink?: string
  helpLink?: string
  /** As a whole: an organization's has nothing of the instance's. */
  brand?: Brand
}

/** The provider of the people who have addresses of a domain. */
export interface ProviderDomain {
  /** In lower case, in Punycode. */
  domain: string
  idpId: string
  /** What it says of such an address counts. */
  trusted: boolean
}

/** Whether people stay signed in: nobody does, each person decides, or everybody does. */
export type KeepSignedIn = 'off' | 'allowed' | 'always'

/** How pages look. What is missing is as Roster has it. */
export interface Brand {
  lightTheme?: Theme
  darkTheme?: Theme
  /** In pixels. */
  cornerRadius?: number
  /** The logos are rows beside the events: SHA-256 in base64url. */
  logoHash?: string
  darkLogoHash?: string
  iconHash?: string
}

/** Colours, as `#` and six hexadecimal digits. */
export interface Theme {
  primaryColor?: string
  /** Of the card, and where `groundColor` is missing of the ground around it. */
  backgroundColor?: string
  groundColor?: string
}

export function evolveLoginPolicy(_: unknown, { payload }: LoginPolicyEvent): LoginPolicySettings {
  return payload
}
