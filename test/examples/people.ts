import { randomBytes } from 'node:crypto'
import type { JsonObject } from '@bufbuild/protobuf'
import { inject } from 'vitest'
import type { Answer } from '../e2e/clients/call.ts'
import { call } from '../e2e/clients/encodings.ts'

/** A name that is unique across tests and runs. */
export function unique(prefix: string): string {
  return `${prefix}-${randomBytes(6).toString('hex')}`
}

/** An address that is unique across tests. */
export function uniqueEmail(): string {
  return `${unique('mail')}@example.com`
}

/** The response of an answer. Throws for an error. */
export function ok(answer: Answer): any {
  if (answer.error) throw new Error(`expected a response: ${JSON.stringify(answer.error)}`)
  return answer.ok
}

/** The options of a call by the machine administrator. */
export function admin(organization?: string) {
  return { token: inject('roster').adminToken, organization }
}

/** Adds an organization and returns its id. */
export async function newOrganization(name = unique('Organization')): Promise<string> {
  return ok(await call('AddOrganization', { name }, admin())).organizationId
}

export interface ExampleHuman {
  userId: string
  userName: string
  email: string
  /** Empty where the human has none. */
  password: string
  organization: string
  /** Set where the verification returned the code. */
  emailCode: string | undefined
}

/** Adds a human. Default: a verified address, and no password, because hashing one takes long. */
export async function newHuman(
  organization: string,
  { verification = { isVerified: true }, password, passwordChangeRequired = false, ...chosen }: NewHuman = {},
): Promise<ExampleHuman> {
  const userName = chosen.userName ?? unique('human')
  const email = chosen.email ?? uniqueEmail()
  const { userId, emailCode } = ok(
    await call(
      'AddHumanUser',
      {
        userName,
        ...(chosen.userId !== undefined && { userId: chosen.userId }),
        profile: { ...profile, ...chosen.profile },
        email: { email, ...verification },
        ...(password !== undefined && { password, passwordChangeRequired }),
      },
      admin(organization),
    ),
  )
  return { userId, userName, email, password: password ?? '', organization, emailCode }
}

interface NewHuman {
  userId?: string
  userName?: string
  email?: string
  password?: string
  passwordChangeRequired?: boolean
  profile?: JsonObject
  /** A member of the oneof; `{}` for none. */
  verification?: JsonObject
}

/** A profile with every field except the nick name. */
export const profile = {
  firstName: 'Ada',
  lastName: 'Lovelace',
  displayName: 'Ada L.',
  preferredLanguage: 'en',
  gender: 'GENDER_FEMALE',
}

/** Adds a machine and returns its id. */
export async function newMachine(organization: string, userName = unique('machine')): Promise<string> {
  return ok(await call('AddMachineUser', { userName, name: 'A machine' }, admin(organization))).userId
}

/** A session's token. */
export async function signIn({ userName, password }: ExampleHuman): Promise<string> {
  return ok(await call('CreateSession', { loginName: userName, password })).sessionToken
}

/** Adds a human with these roles in the organization and signs in. Without roles, the human may do nothing. */
export async function newMember(organization: string, roles: string[]): Promise<ExampleHuman & { token: string }> {
  const human = await newHuman(organization, { password: unique('Password') })
  if (roles.length > 0) ok(await call('AddOrganizationMember', { userId: human.userId, roles }, admin(organization)))
  return { ...human, token: await signIn(human) }
}

/** The user in its present state. */
export async function getUser(userId: string): Promise<any> {
  return ok(await call('GetUser', { userId }, admin())).user
}
