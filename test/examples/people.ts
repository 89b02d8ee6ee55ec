import { randomBytes } from 'node:crypto'
import type { JsonObject } from '@bufbuild/protobuf'
import { inject } from 'vitest'
import type { Answer } from '../e2e/clients/call.ts'
import { call } from '../e2e/clients/encodings.ts'

/** A name that no other test and no earlier run has. */
export function unique(prefix: string): string {
  return `${prefix}-${randomBytes(6).toString('hex')}`
}

/** An address that no other test has. */
export function uniqueEmail(): string {
  return `${unique('mail')}@example.com`
}

/** The response of an answer that must be one. */
export function ok(answer: Answer): any {
  if (answer.error) throw new Error(`expected a response: ${JSON.stringify(answer.error)}`)
  return answer.ok
}

/** The options of a call by the machine administrator. */
export function admin(organization?: string) {
  return { token: inject('roster').adminToken, organization }
}

/** A new organization; gives its id. */
export async function newOrganization(name = unique('Organization')): Promise<string> {
  return ok(await call('AddOrganization', { name }, admin())).organizationId
}

export interface ExampleHuman {
  userId: string
  userName: string
  email: string
  /** Empty: none. */
  password: string
  organization: string
  /** Where the verification asked for its return. */
  emailCode: string | undefined
}

/** A new human, by default with a verified address and without a password, which is dear to make. */
export async function newHuman(
  organization: string,
  { verification = { isVerified: true }, password, ...chosen }: NewHuman = {},
): Promise<ExampleHuman> {
  const userName = chosen.userName ?? unique('human')
  const email = chosen.email ?? uniqueEmail()
  const { userId, emailCode } = ok(
    await call(
      'AddHumanUser',
      {
        userName,
        profile: { ...profile, ...chosen.profile },
        email: { email, ...verification },
        ...(password !== undefined && { password }),
      },
      admin(organization),
    ),
  )
  return { userId, userName, email, password: password ?? '', organization, emailCode }
}

interface NewHuman {
  userName?: string
  email?: string
  password?: string
  profile?: JsonObject
  /** A member of the oneof; `{}`: nothing chosen. */
  verification?: JsonObject
}

/** A profile with every field but the nick name. */
export const profile = {
  firstName: 'Ada',
  lastName: 'Lovelace',
  displayName: 'Ada L.',
  preferredLanguage: 'en',
  gender: 'GENDER_FEMALE',
}

/** A new machine; gives its id. */
export async function newMachine(organization: string, userName = unique('machine')): Promise<string> {
  return ok(await call('AddMachineUser', { userName, name: 'A machine' }, admin(organization))).userId
}

/** A session's token. */
export async function signIn({ userName, password }: ExampleHuman): Promise<string> {
  return ok(await call('CreateSession', { loginName: userName, password })).sessionToken
}

/** The token of a new human with these roles in the organization; without roles: one who may do nothing. */
export async function newMember(organization: string, roles: string[]): Promise<ExampleHuman & { token: string }> {
  const human = await newHuman(organization, { password: unique('Password') })
  if (roles.length > 0) ok(await call('AddOrganizationMember', { userId: human.userId, roles }, admin(organization)))
  return { ...human, token: await signIn(human) }
}

/** The user as it is. */
export async function getUser(userId: string): Promise<any> {
  return ok(await call('GetUser', { userId }, admin())).user
}
