import { MicrosoftTenantType } from '#gen/roster/idp/v1/provider_service'
import type { MicrosoftTenant } from '#gen/roster/idp/v1/provider_service'
import type { Configurations } from '../vocabulary.ts'

/** The addresses of providers that have the same for everybody. */
export const google = 'https://accounts.google.com'
export const gitlab = 'https://gitlab.com'
export const apple = 'https://appleid.apple.com'
export const github = {
  authorizationEndpoint: 'https://github.com/login/oauth/authorize',
  tokenEndpoint: 'https://github.com/login/oauth/access_token',
  userEndpoint: 'https://api.github.com/user',
}

/** Whether these are the addresses of github.com. */
export function isGithub(endpoints: Pick<Configurations['oauth'], keyof typeof github>): boolean {
  return (Object.keys(github) as (keyof typeof github)[]).every((name) => endpoints[name] === github[name])
}

const microsoft = /^https:\/\/login\.microsoftonline\.com\/([^/]+)\/v2\.0\/?$/

// The third is the tenant that has all private accounts: its tokens name it, and not `consumers`.
const tenantTypes: [MicrosoftTenantType, string][] = [
  [MicrosoftTenantType.MICROSOFT_TENANT_TYPE_COMMON, 'common'],
  [MicrosoftTenantType.MICROSOFT_TENANT_TYPE_ORGANISATIONS, 'organizations'],
  [MicrosoftTenantType.MICROSOFT_TENANT_TYPE_CONSUMERS, '9188040d-6c67-4c5b-b112-36a304b66dad'],
]

/** The issuer of the accounts that sign in. */
export function issuerOfTenant(tenant: MicrosoftTenant | undefined): string {
  const { $case, value } = tenant?.type ?? { $case: 'tenantType' as const, value: tenantTypes[0]![0] }
  const name = $case === 'tenantId' ? value : tenantTypes.find(([type]) => type === value)![1]
  return `https://login.microsoftonline.com/${name}/v2.0`
}

/** Whose accounts an issuer stands for; undefined for one elsewhere, such as that of a cloud of its own. */
export function tenantOfIssuer(issuer: string): MicrosoftTenant | undefined {
  const name = microsoft.exec(issuer)?.[1]
  if (name === undefined) return undefined
  const type = tenantTypes.find(([, known]) => known === name)
  return { type: type ? { $case: 'tenantType', value: type[0] } : { $case: 'tenantId', value: name } }
}
