import { create } from '@bufbuild/protobuf'
import type { ProviderClaims } from '#gen/roster/idp/v1/internal_service'
import { registry } from '#lib/registry'
import { validate } from '#lib/rpc/validate'
import { meantName } from '../../../directory/meant-name.ts'
import type { Profile } from '../../../directory/events/human.ts'

type Said = Pick<Profile, 'firstName' | 'lastName' | 'displayName' | 'nickName' | 'preferredLanguage'>

const profile = registry.getMessage('roster.users.v1.UpdateMyProfileRequest')!

/** The parts of a profile that a provider says, each by the rules of UpdateMyProfile: what breaks one was not said. */
export function saidProfile({
  givenName,
  familyName,
  name,
  nickName,
  locale,
}: Pick<ProviderClaims, 'givenName' | 'familyName' | 'name' | 'nickName' | 'locale'>): Partial<Said> {
  const named = { firstName: givenName, lastName: familyName, displayName: name, nickName }
  const meant = Object.entries(named).map(([field, value]) => [field, meantName(value, 'person')] as const)
  // Some write it as systems do.
  const said = Object.fromEntries([...meant, ['preferredLanguage', locale.replaceAll('_', '-')]])
  const broken = validate(profile, create(profile, said)).map(({ field }) => field)
  return Object.fromEntries(Object.entries(said).filter(([field, value]) => value !== '' && !broken.includes(field)))
}

/** What a first sign-in takes over without asking. */
export function furtherOf(claims: ProviderClaims) {
  const { displayName, nickName, preferredLanguage: language = '' } = saidProfile(claims)
  return { displayName, nickName, language }
}
