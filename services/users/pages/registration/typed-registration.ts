import { create } from '@bufbuild/protobuf'
import { type RegisterRequest, RegistrationError } from '#gen/roster/users/v1/sign_in_service'
import { registry } from '#lib/registry'
import { validate } from '#lib/rpc/validate'
import { checkAddress } from '../../directory/email/address.ts'
import { meantName } from '../../directory/meant-name.ts'

/** What a person types to register. */
export type Typed = Pick<RegisterRequest, 'email' | 'givenName' | 'familyName' | 'language'>

/** As it was meant, without what a keyboard added. */
export function typedIn({ email, givenName, familyName, language }: Typed): Typed {
  const [given, family] = [givenName, familyName].map((name) => meantName(name, 'person')) as [string, string]
  return { email: meantName(email), givenName: given, familyName: family, language }
}

const human = registry.getMessage('roster.users.v1.AddHumanUserRequest')!

const errors: [field: string, error: RegistrationError][] = [
  ['email.email', RegistrationError.REGISTRATION_ERROR_EMAIL_INVALID],
  ['profile.firstName', RegistrationError.REGISTRATION_ERROR_GIVEN_NAME_INVALID],
  ['profile.lastName', RegistrationError.REGISTRATION_ERROR_FAMILY_NAME_INVALID],
  ['password', RegistrationError.REGISTRATION_ERROR_PASSWORD_INVALID],
]

/** The first that breaks a rule of AddHumanUser. */
export function findFault(
  { email, givenName, familyName, language }: Typed,
  password?: string,
): RegistrationError | undefined {
  const request = create(human, {
    userName: 'is made',
    profile: { firstName: givenName, lastName: familyName, preferredLanguage: language },
    email: { email },
    ...(password !== undefined && { password }),
  })
  const broken = [...validate(human, request), ...checkAddress(email, 'email.email')].map(({ field }) => field)
  return errors.find(([field]) => broken.includes(field))?.[1]
}
