import type { JsonObject } from '@bufbuild/protobuf'
import { inject } from 'vitest'
import type { Operation } from './contract.ts'
import { getUser, newMember, newOrganization, unique, uniqueEmail } from './people.ts'
import { newIdp, newProject } from './projects.ts'

/** A client's call of one of the five operations, and a check of its effect. */
export interface Errand {
  operation: Operation
  request: JsonObject
  token: string
  organization: string
  /** Throws where the response is wrong. */
  check(response: any): Promise<void>
}

/** The five operations, each ready for one call. */
export async function fiveOperations(): Promise<Errand[]> {
  const organization = await newOrganization()
  // SetEmail is for another user: a check of UpdateMyProfile may come after all calls.
  const [me, other, idp, project] = [
    await newMember(organization, []),
    await newMember(organization, []),
    await newIdp(),
    await newProject(organization, ['reader']),
  ]
  const [userName, email] = [unique('machine'), uniqueEmail()]
  const token = inject('roster').adminToken
  const common = { token, organization }
  return [
    {
      ...common,
      token: me.token,
      operation: 'UpdateMyProfile',
      request: { firstName: 'Zoë', lastName: 'O’Neill', displayName: 'Zoë 𝒜', gender: 'GENDER_DIVERSE' },
      check: async ({ details }) => {
        const user = await getUser(me.userId)
        same(user.human.profile.displayName, 'Zoë 𝒜')
        same(details.sequence, user.details.sequence)
      },
    },
    {
      ...common,
      operation: 'UpdateIDP',
      request: { ...idp, stylingType: 'STYLING_TYPE_GOOGLE', autoRegister: true },
      check: async ({ details }) => same(details.sequence, '2'),
    },
    {
      ...common,
      operation: 'AddMachineUser',
      request: { userName, name: 'Robot', accessTokenType: 'ACCESS_TOKEN_TYPE_JWT' },
      check: async ({ userId, details }) => {
        same((await getUser(userId)).userName, userName)
        same(details.resourceOwner, organization)
      },
    },
    {
      ...common,
      operation: 'SetEmail',
      request: { userId: other.userId, email, returnCode: {} },
      check: async ({ verificationCode }) => {
        same(/^[2-9A-HJ-NP-Z]{6}$/.test(verificationCode), true)
        same((await getUser(other.userId)).human.email.email, email)
      },
    },
    {
      ...common,
      operation: 'AddUserGrant',
      request: { userId: me.userId, projectId: project, roleKeys: ['reader'] },
      check: async ({ userGrantId, details }) => {
        same(typeof userGrantId, 'string')
        same(details.sequence, '1')
      },
    },
  ]
}

function same(actual: unknown, expected: unknown) {
  if (actual !== expected) throw new Error(`expected ${String(expected)}, not ${String(actual)}`)
}
